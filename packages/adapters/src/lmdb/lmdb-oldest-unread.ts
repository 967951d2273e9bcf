import { DependencyError } from '@weir/domain/errors';
import type { ReadableLog } from './lmdb-partition-reads.ts';

/**
 * Returns the time at which the oldest unread record of the partitions was appended; `Infinity` if there is none. `unreadFrom` returns the first
 * offset of a partition that its consumer has not committed. Throws `event_log_unavailable` if LMDB cannot read.
 */
export function oldestUnreadAt<Log extends ReadableLog>(
  logs: readonly Log[],
  unreadFrom: (log: Log) => number,
): number {
  let oldest = Number.POSITIVE_INFINITY;
  try {
    for (const log of logs) oldest = Math.min(oldest, log.appendedAt(unreadFrom(log)));
  } catch (error) {
    throw new DependencyError('event_log_unavailable', `cannot read the event log: ${error}`, { cause: error });
  }
  return oldest;
}
