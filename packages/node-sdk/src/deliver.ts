import type { QueuedCall, Undelivered } from './event.ts';
import type { Post } from './transport.ts';

export const EVENTS_PER_BATCH_MAX = 500;
const BATCH_BYTES_MAX = 1024 * 1024;
const TOO_LARGE = 413;
const TOO_MANY = 429;

/** The result of one request. */
export interface Delivery {
  /** The calls that were delivered or refused. */
  readonly settled: readonly QueuedCall[];
  readonly refused: readonly Undelivered[];
  /** The calls that must be sent again, in order. */
  readonly left: readonly QueuedCall[];
  readonly afterMs?: number;
}

/** Sends only the first call, to the endpoint of its kind. */
export async function deliverOne(post: Post, calls: readonly QueuedCall[]): Promise<Delivery> {
  const [call, ...rest] = calls;
  if (call === undefined) return { settled: [], refused: [], left: [] };
  const attempt = await post(call.kind === 'event' ? '/api/v1/events' : '/api/identify', call.body);
  if (attempt.outcome === 'retry') return { settled: [], refused: [], left: calls, ...after(attempt.afterMs) };
  const refused = attempt.outcome === 'refused' ? [refusal(call, attempt.status, attempt.message)] : [];
  return { settled: [call], refused, left: rest, afterMs: 0 };
}

/**
 * Sends as many events as fit into one request, at most `most`. Each event has its own result. Weir refuses the whole batch if it
 * has more events than the rate limit still allows (429), or more events than the whole rate limit (400). Then the function sends as many
 * events as are allowed.
 */
export async function deliverBatch(post: Post, calls: readonly QueuedCall[], most?: number): Promise<Delivery> {
  const sent = calls.slice(0, fitting(calls, most));
  const rest = calls.slice(sent.length);
  const attempt = await post('/api/v1/events/batch', `{"events":[${sent.map((call) => call.body).join(',')}]}`);
  if (attempt.outcome !== 'done' && attempt.fits !== undefined && attempt.fits < sent.length) {
    return deliverBatch(post, calls, attempt.fits);
  }
  if (attempt.outcome === 'retry') return { settled: [], refused: [], left: calls, ...after(attempt.afterMs) };
  if (attempt.outcome === 'refused' && attempt.status === TOO_LARGE && sent.length > 1) {
    // A proxy can have a smaller body limit than Weir.
    return deliverBatch(post, calls, Math.ceil(sent.length / 2));
  }
  if (attempt.outcome === 'refused') {
    const refused = sent.map((call) => refusal(call, attempt.status, attempt.message));
    return { settled: sent, refused, left: rest, afterMs: 0 };
  }
  const results = resultsOf(attempt.json);
  const again = sent.filter((_, index) => isAgain(results[index]));
  const settled = sent.filter((_, index) => !isAgain(results[index]));
  const refused = sent.flatMap((call, index) => {
    const error = results[index]?.error;
    return error === undefined || isAgain(results[index]) ? [] : [refusal(call, error.code, error.message)];
  });
  const left = [...again, ...rest];
  return { settled, refused, left, ...after(again.length === 0 ? 0 : attempt.afterMs) };
}

interface BatchResult {
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * True if an event of a batch must be sent again: it has no result, or the code 429 (only from older gateways) or 5xx. The idempotency key makes this
 * safe.
 */
function isAgain(result: BatchResult | undefined): boolean {
  return result === undefined || result.error?.code === TOO_MANY || (result.error?.code ?? 0) >= 500;
}

function resultsOf(json: unknown): readonly (BatchResult | undefined)[] {
  return (json as { data?: { results?: BatchResult[] } } | undefined)?.data?.results ?? [];
}

function fitting(calls: readonly QueuedCall[], most = EVENTS_PER_BATCH_MAX): number {
  const encoder = new TextEncoder();
  let bytes = '{"events":[]}'.length;
  let count = 0;
  for (const { body } of calls.slice(0, Math.min(most, EVENTS_PER_BATCH_MAX))) {
    bytes += encoder.encode(body).length + 1;
    if (bytes > BATCH_BYTES_MAX && count > 0) break;
    count += 1;
  }
  return count;
}

function refusal(call: QueuedCall, status: number, message: string): Undelivered {
  return { call, status, reason: `Weir refused with ${status}: ${message}` };
}

function after(afterMs: number | undefined): { readonly afterMs?: number } {
  return afterMs === undefined ? {} : { afterMs };
}
