import { DependencyError } from '@weir/domain/errors';
import { GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
import { assertLogNotTruncated } from '@weir/runtime/consume/assert-log-not-truncated';
import { isTokenForgotten } from './latest-block.ts';
import { decodeProgress, encodeProgress, type Plan, type Progress } from './plan.ts';

export interface ResumePoint {
  /** The next raw offset (offset in `events.raw`) to insert. If `redo` is set, this is the first offset of `redo`. */
  readonly next: number;
  /** The number of the present set of tables. A swap replaces the tables by the set with the next number. */
  readonly generation: number;
  /** The planned range, which must be inserted again before anything else. */
  readonly redo?: Plan;
  readonly warning?: string;
}

/**
 * Finds where the writer continues after an assignment: at the committed position, or after the last row of the table if that is
 * later. Rejects with `event_log_damaged` if the log ends before the last row of the table or before the commit.
 */
export async function findResumePoint(
  handle: PartitionHandle,
  eventLog: EventLog,
  analytics: Analytics,
  replay: { firstRawOffset(partition: number): number } | undefined,
): Promise<ResumePoint> {
  const { partition } = handle;
  const committed = readCommitted(handle);
  // The generation is read first. If the tables are exchanged after that, ClickHouse refuses the next insert, which names the old generation.
  const generation = await analytics.generation();
  const highest = await analytics.highestRawOffset(eventLog.logId, partition);
  const { next, plan } = committed ?? { next: replay?.firstRawOffset(partition) ?? 0 };
  const offset = handle.committed?.offset ?? 0;
  const log = { eventLog, group: GROUP_WRITER, partition };
  const rawLog = {
    ...log,
    topic: TOPIC_RAW,
    truncatedAt: committed?.truncatedAt,
    // Stores the offset at which the log ended. New records can fill the gap before the next check. Without the stored offset, that check would
    // not find the loss.
    onTruncated: (truncatedAt: number) =>
      handle.commit({ offset, metadata: encodeProgress({ ...(committed ?? { next }), truncatedAt }) }),
  };
  await assertLogNotTruncated({ ...rawLog, end: highest + 1, seenBy: 'the table records' });
  await assertLogNotTruncated({ ...rawLog, end: next, seenBy: "the writer's commit" });
  await assertLogNotTruncated({ ...log, topic: TOPIC_ENRICHED, end: offset, seenBy: "the writer's commit" });

  if (plan !== undefined && plan.generation !== generation) {
    // The plan was made for other tables, and the present tables do not know its token. A replay, or the undo of its swap, has filled the present
    // tables: `records` and each view have every row up to `highest`. So the writer continues after these rows.
    return {
      next: Math.max(plan.from, highest + 1),
      generation,
      warning: `the tables are of generation ${generation}, the committed plan of ${plan.generation}: it is not repeated`,
    };
  }
  if (
    plan !== undefined &&
    (highest > plan.to || (await isTokenForgotten(plan, eventLog.logId, partition, analytics)))
  ) {
    // ClickHouse may have forgotten the token of this plan, so its insert is not repeated. Either the commit is older than the table: later commits
    // were lost, or the offset was reset. Or this partition stood still while others made thousands of inserts.
    return {
      next: highest + 1,
      generation,
      warning: `the rows of the committed plan were stored too long ago to repeat it: continuing after raw offset ${highest}`,
    };
  }
  if (plan !== undefined) return { next: plan.from, generation, redo: plan };
  if (highest >= next) {
    return {
      next: highest + 1,
      generation,
      warning: `records is ahead of the commit: continuing after raw offset ${highest}`,
    };
  }
  // A replay does not insert every row, so in a replay, the table can end before the committed position.
  if (committed !== undefined && highest < next - 1 && replay === undefined) {
    return {
      next,
      generation,
      warning: `records ends at raw offset ${highest}, but rows up to ${next - 1} were inserted: were rows removed?`,
    };
  }
  return { next, generation };
}

/** Reads the metadata of the last commit. Throws `event_log_damaged` if it was not written by a writer of Weir. */
export function readCommitted({
  committed,
  partition,
}: Pick<PartitionHandle, 'committed' | 'partition'>): Progress | undefined {
  try {
    return decodeProgress(committed?.metadata ?? '');
  } catch (error) {
    const message = `${TOPIC_ENRICHED} partition ${partition}: ${(error as Error).message}`;
    throw new DependencyError('event_log_damaged', message, { cause: error });
  }
}
