import { createVisit, type Visit } from './visit.ts';
import type { Weir } from './weir.ts';

const FLUSH_WITHIN_MS = 2_000;

export interface RequestVisitOptions {
  /** The client's address, where the platform tells it: never from a header that a client can write. */
  readonly ip?: string;
}

/** A visit out of a Fetch API request: Next (middleware, route handlers), Deno, Bun, Workers. */
export function visitOf(weir: Weir, request: Request, { ip }: RequestVisitOptions = {}): Visit {
  const { headers, url } = request;
  return createVisit(weir, {
    cookie: headers.get('cookie') ?? undefined,
    url,
    referrer: headers.get('referer') ?? undefined,
    userAgent: headers.get('user-agent') ?? undefined,
    ip,
  });
}

/** Wraps a Next route handler or middleware: what it tracked, before it threw too, is on its way out before the runtime may stop it. */
export function withWeir<Context extends { waitUntil?: (work: Promise<unknown>) => void }, Answer>(
  weir: Weir,
  handle: (request: Request, visit: Visit, context: Context) => Answer | Promise<Answer>,
  options?: (request: Request) => RequestVisitOptions,
): (request: Request, context: Context) => Promise<Answer> {
  return async (request, context) => {
    try {
      return await handle(request, visitOf(weir, request, options?.(request)), context);
    } finally {
      // A Weir that is away must not hold up an answer for long: what is unsent goes out with the next request's.
      if (context?.waitUntil === undefined) await weir.flush(FLUSH_WITHIN_MS);
      else context.waitUntil(weir.flush(FLUSH_WITHIN_MS));
    }
  };
}
