import { TOPIC_RAW } from '@weir/domain/records/topics';
import { keptFrom } from '@weir/ports/kept-from';
import { oldestUnreadAt } from './lmdb-oldest-unread.ts';
import type { IsOld, PartitionLog } from './lmdb-partition-log.ts';
import { submitWrite, type WriteQueue } from './lmdb-write-queue.ts';

const CHECK_EVERY_MS = 60_000;
/** How many entries of a partition one transaction removes at most. The next transaction removes more. Short transactions do not delay appends. */
const REMOVED_ENTRIES_MAX = 500;

/**
 * Upper bound of what one removal writes. LMDB lists each page of a removed entry in its free list, with 8 bytes. A transaction can
 * write a page of the free list twice.
 */
const REMOVAL_SIZE = { keys: REMOVED_ENTRIES_MAX, bytes: 2 * 1024 * 1024 };

interface RetentionDeps {
  readonly logs: () => readonly PartitionLog[];
  readonly retentionMs: (topic: string) => number;
  /** The first offset of a partition that its consumer has not committed. Records from this offset on must be kept. */
  readonly unreadFrom: (log: PartitionLog) => number;
  readonly writes: WriteQueue;
  readonly clock: () => number;
}

export interface Retention {
  stop(): void;
}

/**
 * Removes records older than the topic's retention, at the start and then every minute. Keeps two kinds of older records: those that their
 * consumer has not read, and raw records that show whether an unread raw record is a duplicate (`keptFrom` in ports/kept-from.ts).
 * After a failed removal, the next attempt is a minute later.
 */
export function startRetention({ logs, retentionMs, unreadFrom, writes, clock }: RetentionDeps): Retention {
  let stopped = false;

  function keptFromOf(topic: string): number {
    // In topics other than `events.raw`, a record does not affect how later records are processed. So only unread records of `events.raw`
    // make older records necessary.
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
      // After a failed write, LMDB can refuse to read. Such an error is ignored here: `ping` (lmdb-event-log.ts) writes again, and throws if this
      // write fails too.
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
