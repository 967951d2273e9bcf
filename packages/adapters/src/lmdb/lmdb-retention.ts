import { TOPIC_RAW } from '@weir/domain/records/topics';
import { keptFrom } from '@weir/ports/kept-from';
import { oldestUnreadAt } from './lmdb-oldest-unread.ts';
import type { IsOld, PartitionLog } from './lmdb-partition-log.ts';
import { submitWrite, type WriteQueue } from './lmdb-write-queue.ts';

const CHECK_EVERY_MS = 60_000;
/** How many entries of a partition one transaction removes. The next transaction removes further ones, so that appends are not delayed. */
const REMOVED_ENTRIES_MAX = 500;

/**
 * Upper bound of what a removal writes. LMDB's free list needs 8 bytes per page of an entry, and pages of the list can be
 * written twice.
 */
const REMOVAL_SIZE = { keys: REMOVED_ENTRIES_MAX, bytes: 2 * 1024 * 1024 };

interface RetentionDeps {
  readonly logs: () => readonly PartitionLog[];
  readonly retentionMs: (topic: string) => number;
  /** The first offset of a partition that must be kept, because its consumer has not committed it. */
  readonly unreadFrom: (log: PartitionLog) => number;
  readonly writes: WriteQueue;
  readonly clock: () => number;
}

export interface Retention {
  stop(): void;
}

/**
 * Removes records older than the topic's retention, at the start and then every minute. Keeps records that their consumer has not read, and raw
 * records (of any partition) that decide whether an unread record is a duplicate (`keptFrom`). A failed removal is retried a minute later.
 */
export function startRetention({ logs, retentionMs, unreadFrom, writes, clock }: RetentionDeps): Retention {
  let stopped = false;

  function keptFromOf(topic: string): number {
    // Only raw records affect how later records are processed: whether they are duplicates, and which visitor they have.
    const partitions = topic === TOPIC_RAW ? logs().filter((log) => log.topic === topic) : [];
    return keptFrom(clock(), retentionMs(topic), oldestUnreadAt(partitions, unreadFrom));
  }

  function remove(log: PartitionLog): void {
    let removed = 0;
    writes.submit({
      size: () => REMOVAL_SIZE,
      stage() {
        const keptFromMs = keptFromOf(log.topic);
        const unread = unreadFrom(log);
        const isOld: IsOld = (appendedAt, end) => appendedAt < keptFromMs && end <= unread;
        removed = stopped ? 0 : log.stageRemoval(isOld, REMOVED_ENTRIES_MAX);
      },
      settle(failure) {
        if (failure === undefined && removed === REMOVED_ENTRIES_MAX) remove(log);
      },
    });
  }

  function check(): void {
    for (const topic of new Set(logs().map((log) => log.topic))) {
      const keptFromMs = keptFromOf(topic);
      for (const log of logs()) if (log.topic === topic && log.oldestAppendedAt() < keptFromMs) remove(log);
    }
  }

  function checkAgain(): void {
    try {
      check();
    } catch (error) {
      // After a failed write, LMDB can refuse to read. `ping` of the log reports this failure.
      if (writes.lastFailure() === undefined) throw error;
    }
  }

  check();
  const timer = setInterval(checkAgain, CHECK_EVERY_MS).unref();
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

/** Removes all entries that end at or before `offset`. Resolves when they are removed. */
export async function removeEntriesBefore(log: PartitionLog, offset: number, writes: WriteQueue): Promise<void> {
  const isOld: IsOld = (_, end) => end <= offset;
  let removed = log.first() < offset ? REMOVED_ENTRIES_MAX : 0;
  while (removed === REMOVED_ENTRIES_MAX) {
    const stage = (): void => {
      removed = log.stageRemoval(isOld, REMOVED_ENTRIES_MAX);
    };
    await submitWrite(writes, 'event_log_unavailable', stage, { size: REMOVAL_SIZE });
  }
}
