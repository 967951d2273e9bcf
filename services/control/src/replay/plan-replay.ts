import { DependencyError } from '@weir/domain/errors';
import { HEADER_RAW_OFFSET } from '@weir/domain/records/records-columns';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ReplayScope, ReplayStart } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';

export interface PlanReplayDeps {
  readonly eventLog: EventLog;
  readonly analytics: Pick<Analytics, 'highestRawOffset'>;
  readonly clock: () => number;
  /** Of the enriched topic. */
  readonly retentionMs: number;
}

/** Records that expire this soon after the start are copied: retention could remove them before they are replayed. */
const EXPIRES_SOON_MS = 24 * 3600_000;
/** A record is in the log this long after its receipt, or later; clocks may differ. */
const CLOCKS_DIFFER_MS = 3600_000;
/**
 * A partition that does not begin at its first record can begin within a run of repeats. The highest raw offset of this many records is
 * certainly no repeat: repeats are batches of 1,024 records, of a few restarts.
 */
const REPEATS_MAX = 16_384;
const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Where the replay of each partition begins. */
export function planStarts(deps: PlanReplayDeps, scope: ReplayScope): Promise<readonly ReplayStart[]> {
  const partitions = Array.from({ length: deps.eventLog.partitionCount }, (_, partition) => partition);
  return Promise.all(partitions.map((partition) => planStart(deps, scope, partition)));
}

async function planStart(deps: PlanReplayDeps, scope: ReplayScope, partition: number): Promise<ReplayStart> {
  const { eventLog, analytics, clock, retentionMs } = deps;
  const [position] = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER, [partition]);
  if (position === undefined) throw new DependencyError('event_log_damaged', `there is no partition ${partition}`);
  // Read before the highest raw offset: every raw offset from `rawEnd` on is then at or after `offset`.
  const { first, committed = first } = position;
  const rawEnd = (await analytics.highestRawOffset(eventLog.logId, partition)) + 1;
  const keptFrom = clock() - retentionMs + Math.min(EXPIRES_SOON_MS, retentionMs / 2);
  const wanted = scope.sinceMs === undefined ? 0 : scope.sinceMs - CLOCKS_DIFFER_MS;
  const fromMs = Math.max(0, keptFrom, wanted);
  const found = (await eventLog.offsetsAtTime(TOPIC_ENRICHED, fromMs))[partition] ?? first;
  const offset = Math.min(Math.max(first, found), Math.max(first, committed));
  const rawOffset = offset === 0 ? 0 : await firstNewRawOffset(eventLog, partition, offset);
  return { offset, rawOffset: Math.min(rawOffset, rawEnd), rawEnd };
}

/** A raw offset of which no record before `from` is an outcome. */
async function firstNewRawOffset(eventLog: EventLog, partition: number, from: number): Promise<number> {
  let highest = -1;
  let next = from;
  while (next < from + REPEATS_MAX) {
    const records = await eventLog.read(TOPIC_ENRICHED, partition, next, READ_BYTES_MAX);
    const last = records.at(-1);
    if (last === undefined) return Number.MAX_SAFE_INTEGER;
    for (const record of records) highest = Math.max(highest, rawOffsetOf(record));
    next = last.offset + 1;
  }
  return highest;
}

export function rawOffsetOf({ headers }: StoredRecord): number {
  return Number(headers[HEADER_RAW_OFFSET] ?? Number.NaN);
}
