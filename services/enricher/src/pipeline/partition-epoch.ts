import { DependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
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

/** Finds the records that the state store lacks for one partition, and checks the partition in (docs/glossary.md) when the state is complete. */
export interface PartitionEpoch {
  /** The epoch that the partition has checked in (docs/glossary.md) to, or undefined. */
  checkedIn(): string | undefined;
  /**
   * Starts to check in to the epoch, unless the partition has started already. If the state lacks earlier records, the returned `next` is
   * the first of them.
   */
  enter(epoch: string, place: PartitionPlace): Promise<Pick<PartitionPlace, 'next' | 'storedTo'>>;
  /**
   * Returns the outcomes of the records from `from` up to the returned `to`, if these records were decided in an earlier epoch. Resolves
   * with `undefined` if the records are new.
   */
  decided(from: number, to: number): Promise<{ readonly to: number; readonly outcomes: Decided } | undefined>;
  /** The first offset that the state lacked and needs. It has all earlier records, or does not need them. -1 if it lacked no earlier record. */
  rebuiltFrom(): number;
  /**
   * Call it when retention has removed records that the state still needed. The next call of `enter` then begins again with the oldest record that the
   * log has. Returns false if the state does not need earlier records.
   */
  beginAgain(): boolean;
  /**
   * Call it when the state has the records before `end`, whose outcomes `decided` returned. Checks in after the last such record.
   * Resolves with false if the epoch is over.
   */
  folded(end: number, records: number, committedTo: number): Promise<boolean>;
}

interface Entering {
  readonly epoch: string;
  readonly decided: DecidedOutcomes;
  /**
   * One past the last record that has an outcome in the log. The state must be folded up to here before the partition checks
   * in.
   */
  readonly to: number;
  /** True if the state was folded up to `to`. */
  whole: boolean;
}

/**
 * If the oldest record without an outcome is younger than this, the enricher folds the records of the last 24 hours plus this time
 * again. Otherwise it folds all records of the log again.
 */
const LAG_MAX_MS = 10 * 60_000;

export function createPartitionEpoch(handle: PartitionHandle, deps: PartitionEpochDeps): PartitionEpoch {
  const { eventLog, stateStore, barrier, clock, logger } = deps;
  const { partition } = handle;
  const foldPartition = { logId: eventLog.logId, partition };
  let checkedIn: string | undefined;
  let entering: Entering | undefined;
  let rebuiltFrom = -1;

  /**
   * Returns the first raw offset of this partition that the state needs. A record is a duplicate only if another record with its key was received
   * less than 24 hours before or after it. So older records cannot change the outcomes that are not decided yet, in any partition.
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
      if (!(error instanceof DependencyError) || error.code !== 'event_log_unavailable') throw error;
      // Perhaps only another partition is unavailable, because it has no leader. Its lag is unknown, so all records of this partition are folded.
      logger.warn({ partition, reason: error.message }, 'the lag of all partitions is unknown: folding all records');
    }
    return (await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER, [partition]))[0]?.first ?? 0;
  }

  /**
   * Checks in, after a commit. The commit fails if the partition was revoked and this process has not noticed it yet. Such a process must
   * not check in, because the new owner may be appending outcomes.
   */
  async function checkIn(epoch: string, committedTo: number): Promise<boolean> {
    await handle.commit({ offset: committedTo, metadata: '' });
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
      // No record of the last 24 hours has an outcome, so the state needs no earlier record. The partition begins with an empty state.
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
      // The previous owner of the partition had already checked in. No state has been lost in this epoch since then.
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
