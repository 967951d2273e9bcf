import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { AppendOutcome, AppendRecord, EventLog } from '@weir/ports/event-log';
import type { KeyClaim } from '@weir/ports/state-store';
import type { KeyClaims } from '../admission/key-claims.ts';
import { createWaitingRoom, type Sender } from '../admission/waiting-room.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';

/**
 * `stored`: the record is durable. `duplicate`: the idempotency key was used before. `unavailable`: too many records wait, or the append was refused
 * or has an unknown result. The client can then retry with the same idempotency key.
 */
export type AppendResult = 'stored' | 'duplicate' | 'unavailable';

export interface AppendBatcher {
  /**
   * Appends a record. If it has an idempotency key, first claims the key (docs/glossary.md). Returns `unavailable` at once if too many requests
   * or bytes of its sender are waiting (waiting-room.ts).
   */
  append(
    record: AppendRecord,
    claim: KeyClaim | undefined,
    from: { readonly siteId: string; readonly keyId: string },
  ): Promise<AppendResult>;
  waiting(): number;
  /** Sends all waiting records. Resolves when each request is answered and each key is confirmed. */
  drain(): Promise<void>;
}

export interface AppendBatcherDeps {
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly keyClaims: KeyClaims;
  readonly lingerMs: number;
  readonly clock: () => number;
  readonly metrics: GatewayMetrics;
  readonly limits?: Partial<BatcherLimits>;
}

export interface BatcherLimits {
  readonly waitingRequestsMax: number;
  readonly waitingBytesMax: number;
  readonly batchRecordsMax: number;
  /**
   * A batch of this size is sent without waiting longer. The size is well below the 15 MiB that Kafka accepts for one partition,
   * because all records of a batch may belong to one partition.
   */
  readonly batchBytesMax: number;
}

const LIMITS: BatcherLimits = {
  waitingRequestsMax: 20_000,
  waitingBytesMax: 128 * 1024 * 1024,
  batchRecordsMax: 512,
  batchBytesMax: 8 * 1024 * 1024,
};
const FULL: Promise<AppendResult> = Promise.resolve('unavailable');
/**
 * If an append is still in flight after the linger time, the next batch waits for up to this many further linger times. Larger batches are
 * cheaper: a commit of fifty records costs as much as a commit of one.
 */
const BUSY_LINGERS = 5;
/**
 * If batches have at least this many records on average, a batch lingers even if no append is in flight. Below this average, the CPU has time for
 * small batches, and a linger would only delay the answers.
 */
const LINGER_FROM_RECORDS = 16;
/** The weight of the newest batch in the moving average of the records per batch. */
const NEWEST_WEIGHT = 1 / 8;
/** If another gateway has claimed a key, the request tries again to claim it after this time. Each further wait is twice as long. */
const RECLAIM_FIRST_MS = 5;
const RECLAIM_LAST_MS = 200;

interface WaitingAppend {
  readonly record: AppendRecord;
  readonly sender: Sender;
  readonly claim: KeyClaim | undefined;
  /** The site together with the idempotency key. Empty if the record has no key. */
  readonly holderKey: string;
  /** Receives the result of the append. It is called exactly once. */
  readonly settled: (result: AppendResult) => void;
  /** True if the record is in the log, and its claim is not confirmed yet. */
  isStored: boolean;
  /** Later requests with the same key, which wait for the result of this one. */
  followers: WaitingAppend[] | undefined;
}

/**
 * Collects the appends of concurrent requests. A batch claims all its keys in one call and is appended in one call, and its requests
 * are answered together. A batch is sent at once if no append is in flight and the last batches were small. Otherwise it collects requests
 * for a few milliseconds. Several batches can be in flight.
 */
export function createAppendBatcher(deps: AppendBatcherDeps): AppendBatcher {
  const { eventLog, keyClaims, lingerMs, clock, metrics } = deps;
  const limits = { ...LIMITS, ...deps.limits };
  /** The appends of this process that have claimed a key, until the claim is confirmed or given up. */
  const holders = new Map<string, WaitingAppend>();
  const background = new Set<Promise<void>>();
  let batch: WaitingAppend[] = [];
  let batchBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let busyTimer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;
  let lingered = false;
  let appendsInFlight = 0;
  let averageRecords = 0;
  const room = createWaitingRoom({ records: limits.waitingRequestsMax, bytes: limits.waitingBytesMax });

  function enqueue(append: WaitingAppend): void {
    batch.push(append);
    batchBytes += append.record.value.length;
    if (batch.length >= limits.batchRecordsMax || batchBytes >= limits.batchBytesMax) flush();
    // With setImmediate, the other requests that have arrived in this turn of the event loop go into the same batch.
    else if (isReady()) soon ??= setImmediate(flush);
    else timer ??= setTimeout(lingerOver, lingerMs);
  }

  function isReady(): boolean {
    return appendsInFlight === 0 && (lingered || averageRecords < LINGER_FROM_RECORDS);
  }

  function lingerOver(): void {
    if (appendsInFlight === 0) {
      flush();
      return;
    }
    lingered = true;
    busyTimer = setTimeout(flush, lingerMs * BUSY_LINGERS);
  }

  function appendDone(): void {
    appendsInFlight -= 1;
    if (isReady()) flush();
  }

  function flush(): void {
    clearTimeout(timer);
    clearTimeout(busyTimer);
    clearImmediate(soon);
    timer = undefined;
    soon = undefined;
    lingered = false;
    if (batch.length === 0) return;
    averageRecords += (batch.length - averageRecords) * NEWEST_WEIGHT;
    const appends = batch;
    batch = [];
    batchBytes = 0;
    appendsInFlight += 1;
    inBackground(send(appends).finally(appendDone));
  }

  function inBackground(work: Promise<void>): void {
    const tracked = work.finally(() => background.delete(tracked));
    background.add(tracked);
  }

  async function send(appends: readonly WaitingAppend[]): Promise<void> {
    const keyed = appends.filter((append) => append.claim !== undefined && !isHolder(append));
    const free = keyed.length === 0 ? appends : await claim(appends, keyed);
    if (free.length === 0) return;

    const startedAt = clock();
    const outcomes = await eventLog.append(
      TOPIC_RAW,
      free.map((append) => append.record),
    );
    metrics.appended(free.length, (clock() - startedAt) / 1000);

    const failed = free.filter((_, index) => outcomes[index]?.status !== 'stored');
    const stored = failed.length === 0 ? free : free.filter((_, index) => outcomes[index]?.status === 'stored');
    for (const append of stored) settle(append, 'stored');
    if (stored.some((append) => append.claim !== undefined)) inBackground(confirm(stored));
    if (failed.length > 0) await fail(failed, outcomes);
  }

  /** Confirms the claims of stored records. Until the claims are confirmed, `holders` remembers their keys. */
  async function confirm(stored: readonly WaitingAppend[]): Promise<void> {
    await keyClaims.confirm(claimsOf(stored));
    for (const append of stored) if (isHolder(append)) holders.delete(append.holderKey);
  }

  /** Releases the keys before the requests are answered, so that a retry is not a duplicate. */
  async function fail(failed: readonly WaitingAppend[], outcomes: readonly AppendOutcome[]): Promise<void> {
    for (const outcome of outcomes) if (outcome.status !== 'stored') metrics.appendFailed(outcome.status);
    const keys = claimsOf(failed);
    if (keys.length > 0) await keyClaims.release(keys);
    for (const append of failed) settle(append, 'unavailable');
  }

  /** Claims the keys of a batch. Returns the appends that may be sent to the log, in the same order. */
  async function claim(appends: readonly WaitingAppend[], keyed: readonly WaitingAppend[]): Promise<WaitingAppend[]> {
    const outcomes = await keyClaims.claim(claimsOf(keyed));
    const counts = { claimed: 0, pending: 0, confirmed: 0 };
    const held = new Set<WaitingAppend>();
    keyed.forEach((append, index) => {
      const outcome = outcomes[index] ?? 'claimed';
      counts[outcome] += 1;
      if (outcome === 'claimed') {
        hold(append);
        return;
      }
      held.add(append);
      if (outcome === 'confirmed') settle(append, 'duplicate');
      else follow(append, RECLAIM_FIRST_MS);
    });
    for (const outcome of ['claimed', 'pending', 'confirmed'] as const) {
      if (counts[outcome] > 0) metrics.claimed(outcome, counts[outcome]);
    }
    return held.size === 0 ? [...appends] : appends.filter((append) => !held.has(append));
  }

  /**
   * Adds to `holders` the request that has claimed a key. While the state store is unavailable, several requests can claim one key: `holders` then
   * has only the first of them. The records of all of them are appended, and the enricher finds the duplicates.
   */
  function hold(append: WaitingAppend): void {
    if (!holders.has(append.holderKey)) holders.set(append.holderKey, append);
  }

  function isHolder(append: WaitingAppend): boolean {
    return holders.get(append.holderKey) === append;
  }

  /** Waits for the result of the request that has claimed the key, in this process or in another one. */
  function follow(append: WaitingAppend, pauseMs: number): void {
    const holder = holders.get(append.holderKey);
    if (holder === undefined) inBackground(reclaim(append, pauseMs));
    else if (holder.isStored) settle(append, 'duplicate');
    else if (holder.followers === undefined) holder.followers = [append];
    else holder.followers.push(append);
  }

  async function reclaim(append: WaitingAppend, pauseMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const [outcome] = await keyClaims.claim(claimsOf([append]));
    if (outcome === 'confirmed') return settle(append, 'duplicate');
    if (outcome === 'pending') return follow(append, Math.min(pauseMs * 2, RECLAIM_LAST_MS));
    hold(append);
    enqueue(append);
  }

  function settle(append: WaitingAppend, result: AppendResult): void {
    append.sender.leave(append.record.value.length);
    append.settled(result);
    if (append.claim === undefined) return;
    if (!isHolder(append)) return;
    if (result === 'stored') append.isStored = true;
    else holders.delete(append.holderKey);
    const { followers } = append;
    if (followers === undefined) return;
    append.followers = undefined;
    // After a failure, the followers get the same result. If instead each follower appended its own record, one after the other, the last one would
    // wait for one timeout of the log per follower.
    for (const follower of followers) settle(follower, result === 'stored' ? 'duplicate' : result);
  }

  return {
    append(record, claim, { siteId, keyId }) {
      const sender = room.sender(siteId, keyId);
      if (!sender.enter(record.value.length)) return FULL;
      const holderKey = claim === undefined ? '' : `${claim.siteId}\0${claim.key}`;
      return new Promise((settled) =>
        enqueue({ record, sender, claim, holderKey, settled, isStored: false, followers: undefined }),
      );
    },
    waiting: room.waiting,
    async drain() {
      while (batch.length > 0 || background.size > 0) {
        flush();
        await Promise.all(background);
      }
    },
  };
}

function claimsOf(appends: readonly WaitingAppend[]): KeyClaim[] {
  const claims: KeyClaim[] = [];
  for (const { claim } of appends) if (claim !== undefined) claims.push(claim);
  return claims;
}
