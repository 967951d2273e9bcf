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

/**
 * Wraps a Next route handler or middleware: flushes its calls before the runtime can stop, also if the handler throws. If the context has no
 * `waitUntil`, the answer waits for the calls that were queued while the handler ran, but for at most two seconds.
 */
export function withWeir<FetchRequest extends Request, Context, Answer>(
  weir: Weir,
  handle: (request: FetchRequest, visit: Visit, context: Context) => Answer | Promise<Answer>,
  options?: (request: FetchRequest) => RequestVisitOptions,
): (request: FetchRequest, context: Context) => Promise<Answer> {
  return async (request, context) => {
    const before = weir.accepted;
    try {
      return await handle(request, visitOf(weir, request, options?.(request)), context);
    } finally {
      const event = context as { readonly waitUntil?: (work: Promise<unknown>) => void } | undefined;
      // An unreachable Weir must not delay the answer for long, so this waits only for calls of the handler. Unsent calls are sent during the next
      // requests.
      if (event?.waitUntil === undefined) await weir.flush(FLUSH_WITHIN_MS, before);
      else event.waitUntil(weir.flush(FLUSH_WITHIN_MS));
    }
  };
}
