import type { ReadableLog } from './lmdb-partition-reads.ts';

/**
 * Returns when the oldest unread record of the partitions was appended; `Infinity` if there is none. `unreadFrom` returns the first offset of a
 * partition that its consumer has not committed.
 */
export function oldestUnreadAt<Log extends ReadableLog>(
  logs: readonly Log[],
  unreadFrom: (log: Log) => number,
): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const log of logs) oldest = Math.min(oldest, log.appendedAt(unreadFrom(log)));
  return oldest;
}
