import { DependencyError } from '@weir/domain/errors';
import type { EventLog } from '@weir/ports/event-log';

export interface LogReach {
  readonly eventLog: EventLog;
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
  /** One past the highest offset that somebody has seen in the partition. */
  readonly end: number;
  /** Who has: for the message. */
  readonly seenBy: string;
  /** Where the partition was found to end too early before: it may have grown past it since, with other records. */
  readonly cutAt?: number | undefined;
  /** It ends too early, at `found`: before this rejects. */
  onCut?(found: number): Promise<void>;
}

/**
 * A partition that ends before what others hold of it has lost records: it was restored from a backup or cut by its broker.
 * New records would get offsets that were given before, and be passed over as repeats, silently. Rejects with
 * `event_log_damaged`; what an operator does then: docs/decisions/0007.
 */
export async function assertLogReaches(reach: LogReach): Promise<void> {
  const { eventLog, topic, partition, end, seenBy, cutAt = Number.POSITIVE_INFINITY } = reach;
  if (end === 0) return;
  // Read after what was seen: ends only grow.
  const positions = await eventLog.positions(topic, reach.group, [partition]);
  const found = positions.find((position) => position.partition === partition)?.end ?? 0;
  const reliable = Math.min(found, cutAt);
  if (reliable >= end) return;
  await reach.onCut?.(reliable);
  throw new DependencyError(
    'event_log_damaged',
    `${topic} partition ${partition} ended at offset ${reliable}, but ${seenBy} goes up to ${end}: the log ${eventLog.logId} has ` +
      'lost records (was it restored from a backup?). Nothing is written until that is mended: see docs/decisions/0007',
  );
}
