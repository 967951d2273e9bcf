import { DependencyError } from '@weir/domain/errors';
import type { EventLog } from '@weir/ports/event-log';

export interface ExpectedEnd {
  readonly eventLog: EventLog;
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
  /** One past the highest offset that was already processed. */
  readonly end: number;
  /** For the error message: where `end` was found, for example "the table records". */
  readonly seenBy: string;
  /** The end of the partition that an earlier check found. Since then, new records may have been appended after it. */
  readonly truncatedAt?: number | undefined;
  /** Called before the rejection, with the offset at which the partition ends. */
  onTruncated?(end: number): Promise<void>;
}

/**
 * Rejects with `event_log_damaged` when a partition ends before an offset that was already processed: the log lost records (it
 * was restored from a backup, or a broker truncated it). New records would get offsets that were used before, and would be
 * skipped silently as repeats. For the repair see docs/decisions/0007.
 */
export async function assertLogNotTruncated(expected: ExpectedEnd): Promise<void> {
  const { eventLog, topic, partition, end, seenBy, truncatedAt = Number.POSITIVE_INFINITY } = expected;
  if (end === 0) return;
  // The positions are read after `end` was determined. A lower end therefore means that records were lost.
  const positions = await eventLog.positions(topic, expected.group, [partition], end);
  const found = positions.find((position) => position.partition === partition)?.end ?? 0;
  const reliable = Math.min(found, truncatedAt);
  if (reliable >= end) return;
  await expected.onTruncated?.(reliable);
  throw new DependencyError(
    'event_log_damaged',
    `${topic} partition ${partition} ended at offset ${reliable}, but ${seenBy} goes up to ${end}: the log ${eventLog.logId} has ` +
      'lost records (was it restored from a backup?). Nothing is written until this is repaired: see docs/decisions/0007',
  );
}
