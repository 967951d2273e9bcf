import { DependencyError } from '@weir/domain/errors';
import { REPEATS_MAX, rawOffsetOf } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ArchivePosition, ReplayRequest, ReplayStart } from '@weir/domain/registry/replay';
import type { ObjectStore } from '@weir/ports/object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { type ExpiredStart, listExpiredStarts } from '@weir/runtime/archive/expired-start';
import { readSegment } from '@weir/runtime/archive/read-segment';
import { parseSegmentName, type SegmentRange, segmentFolder } from '@weir/runtime/archive/segment-name';
import type { ReadableTables } from '../../steady-tables.ts';
import { wantedFrom } from '../raw/plan-raw-replay.ts';

/**
 * Archived segments of one partition of `events.enriched`, without a gap between them. `from` and `to`: the first and the last of
 * their offsets in the topic.
 */
export interface ArchiveRun {
  readonly logId: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  /**
   * Set if the archive has deleted the records before the run, because they were too old. The deleted records contain the first outcome of every raw
   * offset (docs/glossary.md) below `rawFrom`.
   */
  readonly rawFrom?: number;
}

/** Lists all runs of enriched records that may be in the scope of the replay, in the order in which they are read. */
export async function listRuns(
  store: ObjectStore,
  scope: Pick<ReplayRequest, 'sinceMs'>,
): Promise<readonly ArchiveRun[]> {
  const partitions = await summariseArchive(store, { prefix: `${TOPIC_ENRICHED}/`, storedFromMs: wantedFrom(scope) });
  const starts = await listExpiredStarts(store, `${TOPIC_ENRICHED}/`);
  return partitions.flatMap(({ logId, partition, ranges }) => {
    const expired = starts.find((start) => start.logId === logId && start.partition === partition);
    return ranges.flatMap(([from, to]) => remaining({ logId, partition, from, to }, expired));
  });
}

/** Returns the part of a run that has not expired. Segments of the expired part may still exist while they are being deleted. */
function remaining(run: ArchiveRun, expired: ExpiredStart | undefined): readonly ArchiveRun[] {
  if (expired === undefined || run.from > expired.next) return [run];
  return run.to < expired.next ? [] : [{ ...run, from: expired.next, rawFrom: expired.rawNext }];
}

/**
 * Selects the runs to read: all runs of earlier logs, and those runs of this log that begin before the offset from which the replay reads the topic.
 * `records`: the number of records to read.
 */
export function neededRuns(
  runs: readonly ArchiveRun[],
  logId: string,
  starts: readonly ReplayStart[],
): readonly (ArchiveRun & { readonly records: number })[] {
  return runs.flatMap((run) => {
    const end = run.logId === logId ? (starts[run.partition]?.offset ?? 0) : run.to + 1;
    const records = Math.min(run.to + 1, end) - run.from;
    return records > 0 ? [{ ...run, records }] : [];
  });
}

/**
 * Returns a text that says which rows would be missing after the replay. Rows would be missing if the archive has a gap in a partition, and the
 * tables have no rows of this partition that the replay could copy. Records that have expired in the archive are no gap. Resolves with undefined if
 * no rows would be missing.
 */
export async function missingRows(
  { select }: Pick<ReadableTables, 'select'>,
  live: string,
  runs: readonly ArchiveRun[],
): Promise<string | undefined> {
  const held = await select<{ log_id: string; raw_partition: number }>(
    `SELECT DISTINCT toString(log_id) AS log_id, raw_partition FROM ${live}.records`,
  );
  let previous: ArchiveRun | undefined;
  for (const run of runs) {
    const follows = previous?.logId === run.logId && previous.partition === run.partition;
    const next = follows && previous !== undefined ? previous.to + 1 : 0;
    previous = run;
    if (run.from === next || run.rawFrom !== undefined) continue;
    if (held.some((row) => row.log_id === run.logId && Number(row.raw_partition) === run.partition)) continue;
    return (
      `the archive does not have the offsets ${next} to ${run.from - 1} of ${TOPIC_ENRICHED}, partition ${run.partition} of the log ${run.logId}, ` +
      'and the tables do not have that log: put the missing segments back (weir archive list), or move all segments of that log away. ' +
      'If these segments were deleted on purpose, see docs/operations.md, "Restore from the archive alone"'
    );
  }
  return undefined;
}

/** Whether the run lies completely before the position, in the order in which runs are read. */
export function isBefore(run: ArchiveRun, { logId, partition, offset }: ArchivePosition): boolean {
  if (run.logId !== logId) return run.logId < logId;
  return run.partition !== partition ? run.partition < partition : run.to < offset;
}

export function includes(run: ArchiveRun, { logId, partition, offset }: ArchivePosition): boolean {
  return run.logId === logId && run.partition === partition && run.from <= offset && offset <= run.to + 1;
}

/**
 * Yields the segments of a run in order, beginning with the segment that contains this offset. Throws `object_store_damaged` if one of them
 * does not exist any more.
 */
export async function* segmentsFrom(store: ObjectStore, run: ArchiveRun, offset: number): AsyncIterable<SegmentRange> {
  let next: number | undefined;
  for await (const { name } of store.list(segmentFolder({ topic: TOPIC_ENRICHED, ...run }))) {
    const range = parseSegmentName(name);
    if (range === undefined || range.to < offset || range.from > run.to) continue;
    if (range.from > (next ?? offset)) break;
    yield range;
    next = range.to + 1;
  }
  if ((next ?? offset) <= run.to) throw segmentsGone(run, next ?? offset);
}

export function segmentsGone({ logId, partition, to }: ArchiveRun, from: number): DependencyError {
  return new DependencyError(
    'object_store_damaged',
    `the archive does not have the offsets ${from} to ${to} of ${TOPIC_ENRICHED}, partition ${partition} of the log ${logId}, any more: ` +
      'put the segments back, or drop the replay and start it again',
  );
}

/**
 * Finds the raw offset from which the records of a run can be used. Only the first outcome of a raw record counts. A run that does not begin at
 * offset 0 can begin with repeats: outcomes of raw records whose first outcome is before the run. Resolves with undefined if the run is too short to
 * show where the repeats end. If the archive has deleted the records before the run, `rawFrom` shows where the repeats end.
 */
export async function firstRawOffset(store: ObjectStore, run: ArchiveRun): Promise<number | undefined> {
  let highest = -1;
  let records = 0;
  for await (const segment of segmentsFrom(store, run, run.from)) {
    for await (const batch of readSegment(store, segment)) {
      for (const record of batch) {
        if (run.from === 0) return rawOffsetOf(record);
        if (run.rawFrom !== undefined) return Math.max(run.rawFrom, rawOffsetOf(record));
        highest = Math.max(highest, rawOffsetOf(record));
        if (++records === REPEATS_MAX) return highest;
      }
    }
  }
  return undefined;
}
