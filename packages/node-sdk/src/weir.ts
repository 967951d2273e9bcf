import { type EventFields, type IdentityFields, type QueuedCall, toEventBody, type Undelivered } from './event.ts';
import { createOutbox, type Outbox, type OutboxStore, TIMER_MAX_MS } from './outbox.ts';
import { createTransport } from './transport.ts';

export interface WeirOptions {
  /** Where Weir answers, for example https://weir.example.com or https://example.com/weir. Anything but an http(s) URL throws. */
  readonly url: string;
  readonly apiKey: string;
  /**
   * Told of what can't be delivered: refused by Weir, or not taken because the queue is full or the store failed; and of a store
   * that can't forget what was sent, once for each request. What it throws is a line on stderr. Default: a line on stderr.
   */
  readonly onError?: (undelivered: Undelivered) => void;
  /** Keeps what is unsent over a restart: `openQueueFile(path)` of @weir/node-sdk/queue-file. */
  readonly store?: OutboxStore;
  /** Sends up to 500 events in one request (POST /api/v1/events/batch). Default false. */
  readonly batch?: boolean;
  /** Default 10,000 calls. */
  readonly queueCallsMax?: number;
  /** Requests under way at once; default 8. */
  readonly concurrency?: number;
  /** For one attempt; default 10 s. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
  readonly clock?: () => number;
  readonly random?: () => number;
}

/** The server client. Calls return at once; what they take is sent in the background, with retries, and stored once. */
export class Weir {
  readonly #outbox: Outbox;
  readonly #clock: () => number;

  constructor(options: WeirOptions) {
    this.#clock = options.clock ?? Date.now;
    this.#outbox = createOutbox({
      post: createTransport({
        url: options.url,
        apiKey: options.apiKey,
        timeoutMs: options.timeoutMs ?? 10_000,
        fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
      }),
      store: options.store,
      batch: options.batch ?? false,
      callsMax: options.queueCallsMax ?? 10_000,
      concurrency: options.concurrency ?? 8,
      random: options.random ?? Math.random,
      onError: options.onError ?? ((undelivered) => console.error(`weir: ${undelivered.reason}`)),
    });
  }

  /** Takes an event. False: it was not taken, and `onError` was told why. */
  track(name: string, fields: EventFields = {}): boolean {
    const id = fields.idempotencyKey ?? crypto.randomUUID();
    return this.#outbox.add({ id, kind: 'event', body: toEventBody(name, fields, id, this.#clock()) });
  }

  /** Takes an identity. Events tracked after it are sent after it, so that they link to its user. */
  identify(visitorId: string, userId: string, fields: IdentityFields = {}): boolean {
    const { paymentCustomerId, ...rest } = fields;
    const body = { ...rest, payment_customer_id: paymentCustomerId, visitor_id: visitorId, user_id: userId };
    const call: QueuedCall = { id: crypto.randomUUID(), kind: 'identify', body: JSON.stringify(body) };
    return this.#outbox.add(call);
  }

  /** Resolves when everything taken so far was delivered or refused, or the client is closed; after `withinMs` at the latest. */
  async flush(withinMs?: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      if (withinMs !== undefined) timer = setTimeout(resolve, Math.min(withinMs, TIMER_MAX_MS));
    });
    await Promise.race([this.#outbox.flush(), late]);
    clearTimeout(timer);
  }

  /**
   * Flushes for at most this long, and stops when the attempts under way have ended. Resolves with the number of calls left unsent
   * (in the store, where there is one). A second call is the first's.
   */
  close(withinMs = 10_000): Promise<number> {
    return this.#outbox.close(withinMs);
  }
}
