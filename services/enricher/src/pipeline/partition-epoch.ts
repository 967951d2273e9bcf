import { isDependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import { IDEMPOTENCY_WINDOW_MS, type StateStore } from '@weir/ports/state-store';
import type { Logger } from '@weir/runtime/logger';
import { type Decided, type DecidedOutcomes, readDecidedOutcomes } from './decided-outcomes.ts';
import type { StateBarrier } from './state-barrier.ts';

export interface PartitionEpochDeps {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly barrier: StateBarrier;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** The progress of a partition of `events.raw`, as raw offsets. */
export interface PartitionPlace {
  /** The next record to process. */
  readonly next: number;
  /** One past the last record whose outcome is known to be in `events.enriched`. */
  readonly storedTo: number;
  /** The committed offset. */
  readonly committedTo: number;
}

/**
 * An epoch is a period in which the state store loses no content. At its beginning, this object finds the records of one partition whose changes the
 * store lacks. When the store has these changes again, the partition checks in: it reports that its state is complete.
 */
export interface PartitionEpoch {
  /** The epoch in which the partition has checked in, or undefined. */
  checkedIn(): string | undefined;
  /**
   * Starts to check in to the epoch, unless the partition has started already. If the state lacks the changes of earlier records, the returned `next`
   * is the first of these records.
   */
  enter(epoch: string, place: PartitionPlace): Promise<Pick<PartitionPlace, 'next' | 'storedTo'>>;
  /**
   * If `events.enriched` already had outcomes for the records from `from` on when the partition began to check in, resolves with these outcomes, up
   * to the returned `to`. Otherwise resolves with `undefined`: the enricher must decide the outcomes.
   */
  decided(from: number, to: number): Promise<{ readonly to: number; readonly outcomes: Decided } | undefined>;
  /**
   * The offset of the first record that is applied to the state again. The state has, or does not need, the changes of earlier records. -1 if no
   * record is applied again.
   */
  rebuiltFrom(): number;
  /**
   * Call it when retention has removed records that the state still needed. The next call of `enter` then begins again, with the oldest record that
   * the log has. Returns false if the state does not need earlier records.
   */
  beginAgain(): boolean;
  /**
   * Call it for a batch of `records` records whose outcomes `decided` has returned, when the state has the changes of all records before `end`.
   * Checks in if this was the last batch with such outcomes. Resolves with false if the epoch is over.
   */
  folded(end: number, records: number, committedTo: number): Promise<boolean>;
}

interface Entering {
  readonly epoch: string;
  readonly decided: DecidedOutcomes;
  /** One past the last record that has an outcome in the log. The partition checks in when the state has the changes of all records before it. */
  readonly to: number;
  /** True if the state has the changes of all records before `to`. */
  whole: boolean;
}

/**
 * If all records that are older than this have been processed, in all partitions, a rebuild of the state uses the records of the last 24 hours plus
 * this time. Otherwise it uses all records of the log.
 */
const LAG_MAX_MS = 10 * 60_000;

/** `commit` commits a raw offset of the partition. */
export function createPartitionEpoch(
  partition: number,
  commit: (offset: number) => Promise<void>,
  deps: PartitionEpochDeps,
): PartitionEpoch {
  const { eventLog, stateStore, barrier, clock, logger } = deps;
  const foldPartition = { logId: eventLog.logId, partition };
  let checkedIn: string | undefined;
  let entering: Entering | undefined;
  let rebuiltFrom = -1;

  /**
   * Returns the offset of the first record of this partition that a rebuild of the state needs. A record is a duplicate only if another record with
   * its key was received less than 24 hours before or after it. So if no partition lags by more than `LAG_MAX_MS`, records that are older than 24
   * hours plus this time cannot change an outcome that is not decided yet.
   */
  async function windowStart(): Promise<number> {
    const now = clock();
    try {
      const [recent, positions] = await Promise.all([
        eventLog.offsetsAtTime(TOPIC_RAW, now - LAG_MAX_MS),
        eventLog.positions(TOPIC_RAW, GROUP_ENRICHER),
      ]);
      const lagging = positions.some(({ partition: at, committed = 0 }) => committed < (recent[at] ?? 0));
      if (!lagging)
        return (await eventLog.offsetsAtTime(TOPIC_RAW, now - IDEMPOTENCY_WINDOW_MS - LAG_MAX_MS))[partition] ?? 0;
    } catch (error) {
      if (!isDependencyError(error, 'event_log_unavailable')) throw error;
      // Perhaps only another partition is unavailable, because it has no leader. The lag of that partition is unknown, so the records of the last
      // day may not suffice. This partition then applies all records of its own again.
      logger.warn({ partition, reason: error.message }, 'the lag of all partitions is unknown: folding all records');
    }
    return (await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER, [partition]))[0]?.first ?? 0;
  }

  /**
   * Checks in, after a commit. The commit fails if the partition was revoked and this process has not noticed it yet. Such a process must
   * not check in, because the new owner may be appending outcomes.
   */
  async function checkIn(epoch: string, committedTo: number): Promise<boolean> {
    await commit(committedTo);
    if (!(await barrier.checkIn(epoch, partition))) {
      barrier.over(epoch);
      return false;
    }
    checkedIn = epoch;
    entering = undefined;
    return true;
  }

  /**
   * Starts to check in. Returns the offset at which the partition continues. It is called again after a failure, so it changes no variable
   * before the last call that can fail.
   */
  async function begin(epoch: string, { next, storedTo, committedTo }: PartitionPlace): Promise<number> {
    const decided = await readDecidedOutcomes(eventLog, partition, committedTo);
    const to = Math.max(storedTo, decided.to);
    const { appliedTo } = await stateStore.readState(epoch, foldPartition, []);
    if (appliedTo >= next) {
      entering = { epoch, decided, to, whole: appliedTo >= to };
      rebuiltFrom = -1;
      return next;
    }
    const from = Math.min(next, Math.max(appliedTo, await windowStart()));
    if (from < to) {
      logger.warn({ partition, appliedTo, from, to }, 'the state is behind the log: rebuilding it');
    } else {
      // No record that `windowStart` counts as needed has an outcome yet, so no record is applied again. Only the offset up to which the state was
      // applied is set.
      const applied = await stateStore.writeState(epoch, foldPartition, { from: appliedTo, to }, []);
      if (applied === undefined) barrier.over(epoch);
    }
    entering = { epoch, decided, to, whole: from >= to };
    rebuiltFrom = from;
    return from;
  }

  return {
    checkedIn: () => checkedIn,
    rebuiltFrom: () => rebuiltFrom,
    beginAgain() {
      if (entering === undefined || entering.whole) return false;
      entering = undefined;
      return true;
    },
    async enter(epoch, place) {
      const { next, storedTo } = place;
      if (checkedIn === epoch) return { next, storedTo };
      // The previous owner of the partition has already checked in to this epoch, and the store has lost nothing since then. So the state is
      // complete.
      if (checkedIn === undefined && entering === undefined && (await barrier.current()).checkedIn.has(partition)) {
        checkedIn = epoch;
        return { next, storedTo };
      }
      const from = entering?.epoch === epoch ? next : await begin(epoch, place);
      const to = entering?.to ?? storedTo;
      if (entering?.whole) await checkIn(epoch, place.committedTo);
      return { next: from, storedTo: Math.max(storedTo, to) };
    },
    async decided(from, to) {
      if (entering === undefined || from >= entering.to) return undefined;
      const until = Math.min(to, entering.to);
      return { to: until, outcomes: await entering.decided.read(from, until) };
    },
    async folded(end, records, committedTo) {
      barrier.folded(records);
      if (entering === undefined || end < entering.to) return true;
      entering.whole = true;
      return checkIn(entering.epoch, committedTo);
    },
  };
}
