import { type Delivery, deliverBatch, deliverOne, EVENTS_PER_BATCH_MAX } from './deliver.ts';
import type { QueuedCall, Undelivered } from './event.ts';
import { type Post, TIMER_MAX_MS } from './transport.ts';

/** Stores calls across a restart. When `add` returns, the call survives the end of the process. Errors of `add` and `remove` go to `onError`. */
export interface OutboxStore {
  /** The unsent calls of an earlier run, in order. */
  load(): readonly QueuedCall[];
  add(call: QueuedCall): void;
  remove(calls: readonly QueuedCall[]): void;
  close(): void;
}

export interface OutboxDeps {
  readonly post: Post;
  readonly store: OutboxStore | undefined;
  readonly batch: boolean;
  readonly callsMax: number;
  readonly concurrency: number;
  readonly random: () => number;
  readonly onError: (undelivered: Undelivered) => void;
  /** Receives the reason of the first failed attempt that is repeated. */
  readonly onFirstRetry?: ((reason: string) => void) | undefined;
  /** Receives the number of calls that `close` could not send and that no store keeps, and why the last attempt failed (if it did). */
  readonly onUnsent?: ((calls: number, failure: string | undefined) => void) | undefined;
}

export interface Outbox {
  add(call: QueuedCall): boolean;
  /** The number of calls that `add` has accepted so far. */
  accepted(): number;
  /**
   * Resolves when all calls so far are delivered or refused, when the outbox is closed, or after `withinMs`. With `after`, an earlier result of
   * `accepted`, it waits only for calls that were added later.
   */
  flush(withinMs?: number, after?: number): Promise<void>;
  /** Passes an undelivered call to `onError`. */
  report(undelivered: Undelivered): Promise<void>;
  close(withinMs: number): Promise<number>;
}

const BACKOFF_FIRST_MS = 200;
const BACKOFF_LAST_MS = 30_000;
/** Upper limit of Retry-After. */
const PAUSE_MAX_MS = 3_600_000;

/** A bounded queue with bounded concurrency. An identify is sent alone: after all calls before it, and before all calls after it. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { store, random } = deps;
  const waiting: QueuedCall[] = [...(store?.load() ?? [])];
  const sleepers = new Set<() => void>();
  let closed = false;
  let closing: Promise<number> | undefined;
  /** Calls that are neither delivered nor refused, each with its sequence number, in the order in which they were added. */
  const open = new Map<QueuedCall, number>();
  /** Each flush waits for the open calls with a sequence number above `after` and up to `upTo`. `left` is their number. */
  const flushes = new Set<{ readonly after: number; readonly upTo: number; left: number; readonly end: () => void }>();
  let accepted = 0;
  for (const call of waiting) open.set(call, 0);
  const sending = new Set<Promise<void>>();
  /** Why the last attempt failed, if it did. */
  let failure: string | undefined;
  let hasFailed = false;
  let underWay = 0;
  let identifying = false;
  let scheduled = false;

  const post: Post = async (path, body) => {
    // One delivery can have several requests. `close` waits only for the one that is in progress.
    if (closed) return { outcome: 'retry', reason: 'the client is closed' };
    const attempt = await deps.post(path, body);
    failure = attempt.outcome === 'retry' ? attempt.reason : undefined;
    if (failure !== undefined && !hasFailed) {
      hasFailed = true;
      deps.onFirstRetry?.(failure);
    }
    return attempt;
  };

  /** Errors of the caller's `onError` are logged and do not stop the outbox. */
  async function report(undelivered: Undelivered): Promise<void> {
    try {
      await deps.onError(undelivered);
    } catch (error) {
      console.error(`weir: onError failed: ${error}`);
    }
  }

  /** Returns false if the store failed, for example because the disk is full. `onError` has then received the call. */
  function tryStore(run: () => void, call: QueuedCall, reason: string): boolean {
    try {
      run();
      return true;
    } catch (error) {
      void report({ call, reason: `${reason}: ${error}` });
      return false;
    }
  }

  /** Waits a moment before sending, so that calls that are added directly one after the other are sent together. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(() => {
      scheduled = false;
      pump();
    });
  }

  function pump(): void {
    while (waiting[0] !== undefined && underWay < deps.concurrency && !identifying && !closed) {
      identifying = waiting[0].kind === 'identify';
      if (identifying && underWay > 0) {
        identifying = false;
        return;
      }
      const calls = waiting.splice(0, identifying ? 1 : eventsAhead());
      underWay += 1;
      const sent = send(calls).finally(() => sending.delete(sent));
      sending.add(sent);
    }
  }

  /**
   * Counts calls that are settled, by their sequence numbers. Ends each flush that then waits for no call, and all flushes if the outbox is closed.
   */
  function wakeFlushes(settled: readonly number[]): void {
    for (const flushing of flushes) {
      for (const number of settled) if (number > flushing.after && number <= flushing.upTo) flushing.left -= 1;
      if (flushing.left === 0 || closed) flushing.end();
    }
  }

  /** The number of events before the next identify, up to the size of one batch. Always 1 if events are not sent in batches. */
  function eventsAhead(): number {
    if (!deps.batch) return 1;
    const end = waiting.findIndex((call) => call.kind === 'identify');
    return Math.min(end < 0 ? waiting.length : end, EVENTS_PER_BATCH_MAX);
  }

  async function send(calls: readonly QueuedCall[]): Promise<void> {
    let left = calls;
    for (let failures = 0; left.length > 0 && !closed; ) {
      const delivery: Delivery =
        deps.batch && left[0]?.kind === 'event' ? await deliverBatch(post, left) : await deliverOne(post, left);
      for (const undelivered of delivery.refused) void report(undelivered);
      const [settled] = delivery.settled;
      if (settled) tryStore(() => store?.remove(delivery.settled), settled, 'sent, but the store could not remove it');
      const numbers = delivery.settled.map((call) => open.get(call) ?? 0);
      for (const call of delivery.settled) open.delete(call);
      wakeFlushes(numbers);
      failures = delivery.settled.length > 0 ? 0 : failures + 1;
      left = delivery.left;
      if (left.length > 0 && !closed) await pause(delivery.afterMs ?? backoffMs(failures));
    }
    waiting.unshift(...left);
    underWay -= 1;
    identifying = false;
    pump();
  }

  /** The pause is half fixed and half random, so that many clients do not retry at the same time. */
  function backoffMs(failures: number): number {
    const most = Math.min(BACKOFF_FIRST_MS * 2 ** failures, BACKOFF_LAST_MS);
    return most / 2 + (most / 2) * random();
  }

  /** Waits. Resolves early when the client is closed. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        sleepers.delete(end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, PAUSE_MAX_MS));
      sleepers.add(end);
    });
  }

  function flush(withinMs?: number, after = -1): Promise<void> {
    let left = 0;
    for (const number of open.values()) if (number > after) left += 1;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        flushes.delete(flushing);
        resolve();
      };
      const timer = withinMs === undefined ? undefined : setTimeout(end, Math.min(withinMs, TIMER_MAX_MS));
      const flushing = { after, upTo: accepted, left, end };
      flushes.add(flushing);
      wakeFlushes([]);
    });
  }

  async function close(withinMs: number): Promise<number> {
    await flush(withinMs);
    closed = true;
    wakeFlushes([]);
    for (const wake of sleepers) wake();
    // Running attempts end within their timeout, and the store still records their results.
    await Promise.allSettled(sending);
    store?.close();
    // A store keeps the calls for the next run. Without a store they are lost.
    if (!store && waiting.length > 0) deps.onUnsent?.(waiting.length, failure);
    return waiting.length;
  }

  schedule();
  return {
    add(call) {
      if (open.size >= deps.callsMax || closed) {
        void report({ call, reason: closed ? 'the client is closed' : 'the queue is full' });
        return false;
      }
      if (!tryStore(() => store?.add(call), call, 'the store could not save it')) return false;
      open.set(call, ++accepted);
      waiting.push(call);
      schedule();
      return true;
    },
    accepted: () => accepted,
    flush,
    report,
    close: (withinMs) => (closing ??= close(withinMs)),
  };
}
