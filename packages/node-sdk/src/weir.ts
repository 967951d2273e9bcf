import {
  type EventFields,
  type IdentityFields,
  LostValueError,
  type QueuedCall,
  toEventBody,
  toJson,
  type Undelivered,
} from './event.ts';
import { createOutbox, type Outbox, type OutboxStore } from './outbox.ts';
import { createTransport } from './transport.ts';

export interface WeirOptions {
  /**
   * Address of Weir, for example https://weir.example.com or https://example.com/weir. The constructor throws if it is not an
   * http(s) URL.
   */
  readonly url: string;
  /** An API key of the site. The constructor throws if it is missing or empty. */
  readonly apiKey: string;
  /**
   * Receives each undelivered call. Either Weir refused the call, or the client did not accept it: JSON cannot contain one of its values, such as
   * NaN (the `body` is then empty), the client is closed, its queue is full, or its store failed. If the store cannot
   * remove the calls of a finished request, `onError` receives one of these calls, although they may be delivered. Errors that `onError` throws are
   * logged. It does not receive the calls that are unsent when `close` ends: `close` resolves with their number. Default: writes a line to stderr.
   * Without `onError`, the client also logs the reason of its first retry and, without `store`, the number of calls that `close` could not send.
   */
  readonly onError?: (undelivered: Undelivered) => void;
  /** Stores unsent calls, so that they survive a restart: `openQueueFile(path)` of @weir/node-sdk/queue-file. */
  readonly store?: OutboxStore;
  /** Sends up to 500 events in one request (POST /api/v1/events/batch). Default false. */
  readonly batch?: boolean;
  /** Limit of calls that wait or are being sent; default 10,000. */
  readonly queueCallsMax?: number;
  /** Limit of concurrent requests; default 8. */
  readonly concurrency?: number;
  /** Timeout of one attempt; default 10 s. The constructor throws if it is not a whole number from 1 to 2,147,483,647. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  readonly clock?: () => number;
  readonly random?: () => number;
}

function logUnsent(calls: number, failure: string | undefined): void {
  const why = failure === undefined ? '' : `; the last attempt failed: ${failure}`;
  console.error(`weir: the client was closed before it could send ${calls === 1 ? 'a call' : `${calls} calls`}${why}`);
}

/** Without this line, a wrong address could stay unnoticed until the queue is full. */
function logFirstRetry(reason: string): void {
  console.error(`weir: a request failed, and the client repeats it until it is closed: ${reason}`);
}

/**
 * The server client. Calls return at once and are sent in the background, with retries. Weir stores an event only once if the client sends it
 * again within 24 hours.
 */
export class Weir {
  readonly #outbox: Outbox;
  readonly #clock: () => number;

  constructor(options: WeirOptions) {
    this.#clock = options.clock ?? Date.now;
    const post = createTransport({
      url: options.url,
      apiKey: options.apiKey,
      timeoutMs: options.timeoutMs ?? 10_000,
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    });
    this.#outbox = createOutbox({
      post,
      store: options.store,
      batch: options.batch ?? false,
      callsMax: options.queueCallsMax ?? 10_000,
      concurrency: options.concurrency ?? 8,
      random: options.random ?? Math.random,
      onError: options.onError ?? ((undelivered) => console.error(`weir: ${undelivered.reason}`)),
      onFirstRetry: options.onError ? undefined : logFirstRetry,
      onUnsent: options.onError ? undefined : logUnsent,
    });
  }

  /** Queues an event. Returns false if it was not accepted; `onError` then receives the reason. */
  track(name: string, given?: EventFields | null): boolean {
    const fields = given ?? {};
    // A key from the caller is not used as the ID: several events can have the same key, and the queue file stores only one event for each ID.
    const id = crypto.randomUUID();
    // Weir treats an empty key as no key, so that a retry would store the event twice.
    const call = this.#callOf(id, 'event', () => toEventBody(name, fields, fields.idempotencyKey || id, this.#clock()));
    return call !== undefined && this.#outbox.add(call);
  }

  /**
   * Queues an identity. An event that is tracked later is sent after the identity, because Weir gives an event with only a user ID the visitor
   * of the user's last identity.
   */
  identify(visitorId: string, userId: string, fields?: IdentityFields | null): boolean {
    const { paymentCustomerId, ...rest } = fields ?? {};
    const body = { ...rest, payment_customer_id: paymentCustomerId, visitor_id: visitorId, user_id: userId };
    const call = this.#callOf(crypto.randomUUID(), 'identify', () => toJson(body));
    return call !== undefined && this.#outbox.add(call);
  }

  /**
   * Returns undefined, and reports the call, if JSON cannot contain one of its values, such as NaN, a BigInt or an object that contains itself. The
   * caller must not fail because of its analytics.
   */
  #callOf(id: string, kind: QueuedCall['kind'], bodyOf: () => string): QueuedCall | undefined {
    try {
      return { id, kind, body: bodyOf() };
    } catch (error) {
      const why = error instanceof Error ? error.message.split('\n')[0] : error;
      const reason = error instanceof LostValueError ? `${why}` : `the call cannot be written as JSON: ${why}`;
      void this.#outbox.report({ call: { id, kind, body: '' }, reason });
      return undefined;
    }
  }

  /** The number of calls that were accepted so far. */
  get accepted(): number {
    return this.#outbox.accepted();
  }

  /**
   * Resolves when all queued calls are delivered or refused, when the client is closed, or after `withinMs`. With `after`, an earlier value of
   * `accepted`, it waits only for calls that were accepted later.
   */
  flush(withinMs?: number, after?: number): Promise<void> {
    return this.#outbox.flush(withinMs, after);
  }

  /**
   * Flushes for at most this time, then waits for running attempts. Resolves with the number of unsent calls, which stay in the
   * store if there is one. A second call returns the promise of the first.
   */
  close(withinMs = 10_000): Promise<number> {
    return this.#outbox.close(withinMs);
  }
}
