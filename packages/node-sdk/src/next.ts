import { createVisit, type Visit } from './visit.ts';
import type { Weir } from './weir.ts';

const FLUSH_WITHIN_MS = 2_000;

export interface RequestVisitOptions {
  /** The client IP, as the hosting platform reports it. Do not use a header that a client can write. */
  readonly ip?: string;
}

/** Creates a visit from a Fetch API request: Next (middleware, route handlers), Deno, Bun, Workers. */
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

/** Wraps a Next route handler or middleware: flushes its events before the runtime can stop, also if the handler throws. */
export function withWeir<Context extends { waitUntil?: (work: Promise<unknown>) => void }, Answer>(
  weir: Weir,
  handle: (request: Request, visit: Visit, context: Context) => Answer | Promise<Answer>,
  options?: (request: Request) => RequestVisitOptions,
): (request: Request, context: Context) => Promise<Answer> {
  return async (request, context) => {
    try {
      return await handle(request, visitOf(weir, request, options?.(request)), context);
    } finally {
      // An unreachable Weir must not delay the answer for long. Unsent events are sent with those of the next request.
      if (context?.waitUntil === undefined) await weir.flush(FLUSH_WITHIN_MS);
      else context.waitUntil(weir.flush(FLUSH_WITHIN_MS));
    }
  };
}
