import { isDependencyError } from '@weir/domain/errors';
import type { StateEpoch, StateStore } from '@weir/ports/state-store';
import { pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { Logger } from '@weir/runtime/logger';
import type { StateMetrics } from '@weir/runtime/prometheus-metrics';

/** A partition that is assigned to this process. */
export interface BarrierMember {
  readonly partition: number;
  /** The epoch in which the partition has checked in (see `StateBarrier`), or undefined. */
  checkedIn(): string | undefined;
  /** Makes the consumer call `handle`, in which the partition checks the epoch. */
  wake(): void;
}

/**
 * An epoch is a period in which the state store loses no content. At the beginning of an epoch, the store can lack the changes of some records. Each
 * partition applies these records a second time. Then it checks in: it reports that its state is complete. Until all partitions have checked in, a
 * partition must not decide which record came first with an idempotency key, because that record can be in any partition. `whole` waits until all
 * have checked in. The store reports a new epoch when a key is claimed. The barrier also asks the store every second, because
 * partitions without records claim no keys.
 */
export interface StateBarrier {
  /** The last known epoch. Asks the store if no epoch is known. Rejects with `state_store_unavailable`. */
  current(): Promise<StateEpoch>;
  /** Call it when the store has answered that this epoch is over. */
  over(epoch: string): void;
  /** Ends the epoch. Call it when this process has found that state is missing. */
  end(epoch: string): Promise<void>;
  /** Checks a partition in to the epoch. Resolves with false if the epoch is over. */
  checkIn(epoch: string, partition: number): Promise<boolean>;
  /** Resolves with true when all partitions have checked in, and with false when the epoch is over or the signal aborts. */
  whole(epoch: string, signal: AbortSignal): Promise<boolean>;
  /** Counts records that were applied to the state again. */
  folded(records: number): void;
  /** A text with the progress while some partitions have not checked in. Undefined if all have checked in, or before the store was read. */
  rebuilding(): string | undefined;
  /** Returns a function that removes the member. */
  join(member: BarrierMember): () => void;
  close(): void;
}

export interface StateBarrierDeps {
  readonly stateStore: StateStore;
  readonly logId: string;
  readonly partitions: number;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: StateMetrics;
}

const LOOK_EVERY_MS = 1_000;
const LOG_EVERY_MS = 10_000;

export function createStateBarrier(deps: StateBarrierDeps): StateBarrier {
  const { stateStore, logId, partitions, clock, logger, metrics } = deps;
  const members = new Set<BarrierMember>();
  let known: StateEpoch | undefined;
  let reading: Promise<StateEpoch> | undefined;
  /** The epoch that the store reported last. It can be over. */
  let seen:
    | { readonly epoch: string; readonly since: number; folded: number; whole: boolean; loggedAt: number }
    | undefined;

  function read(): Promise<StateEpoch> {
    reading ??= stateStore
      .readEpoch(logId, partitions)
      .then((epoch) => {
        note(epoch);
        known = epoch;
        return epoch;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  function note({ id, checkedIn }: StateEpoch): void {
    const now = clock();
    const waiting = partitions - checkedIn.size;
    metrics.waiting(waiting);
    if (seen?.epoch !== id) {
      if (seen !== undefined || waiting > 0) metrics.began();
      seen = { epoch: id, since: now, folded: 0, whole: waiting === 0, loggedAt: now };
      // This is logged as info, because it also happens after each clean restart. Only a long rebuild is logged as a warning (below).
      if (waiting > 0) {
        logger.info(
          { epoch: id, partitions, waiting },
          'a new epoch of the state store began: each partition checks whether its state is complete',
        );
      }
    } else if (!seen.whole && waiting === 0) {
      seen.whole = true;
      const { folded: records, since } = seen;
      logger.info({ epoch: id, records, ms: now - since }, 'the state is complete: every partition has checked in');
    } else if (!seen.whole && now - seen.loggedAt >= LOG_EVERY_MS) {
      seen.loggedAt = now;
      const missing = Array.from({ length: partitions }, (_, partition) => partition).filter((p) => !checkedIn.has(p));
      logger.warn({ epoch: id, missing }, textOf(checkedIn.size, seen.folded));
    }
  }

  const textOf = (checkedIn: number, records: number): string =>
    `rebuilding state: ${checkedIn} of ${partitions} partitions, ${records.toLocaleString('en-US')} records`;

  async function look(): Promise<void> {
    try {
      const { id } = await read();
      for (const member of members) if (member.checkedIn() !== id) member.wake();
    } catch (error) {
      // This error is ignored here: each partition reports it itself when it next needs the store.
      if (!isDependencyError(error, 'state_store_unavailable')) throw error;
    }
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();

  return {
    async current() {
      return known ?? read();
    },
    over(epoch) {
      if (known?.id === epoch) known = undefined;
    },
    async end(epoch) {
      await stateStore.endEpoch(epoch);
      if (known?.id === epoch) known = undefined;
    },
    checkIn: (epoch, partition) => stateStore.checkIn(epoch, { logId, partition }),
    async whole(epoch, signal) {
      for (let attempt = 0; !signal.aborted; attempt++) {
        const { id, checkedIn } = known ?? (await read());
        if (id !== epoch) return false;
        if (checkedIn.size === partitions) return true;
        await pauseBeforeRetry(Math.min(attempt, 2), signal);
        await read();
      }
      return false;
    },
    folded(records) {
      metrics.folded(records);
      if (seen !== undefined) seen.folded += records;
    },
    rebuilding() {
      if (seen === undefined || seen.whole) return undefined;
      return textOf(known?.checkedIn.size ?? 0, seen.folded);
    },
    join(member) {
      members.add(member);
      return () => void members.delete(member);
    },
    close: () => clearInterval(timer),
  };
}
