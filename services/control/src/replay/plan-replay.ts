import { DependencyError } from '@weir/domain/errors';
import { REPEATS_MAX, rawOffsetOf } from '@weir/domain/records/records-columns';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ReplayRequest, ReplayStart } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { waitUntilVisible } from '../imports/wait-until-stored.ts';
import type { SteadyTables } from '../steady-tables.ts';
import { keptFrom, type PlanRawDeps, planRawReplay, type RawPlan, wantedFrom } from './raw/plan-raw-replay.ts';

export interface PlanReplayDeps extends PlanRawDeps {
  /** How long `events.enriched` keeps records. */
  readonly retentionMs: number;
}

const READ_BYTES_MAX = 4 * 1024 * 1024;

export interface BeginReplayDeps extends PlanReplayDeps {
  readonly analytics: Analytics;
  readonly shadow: Pick<ShadowTables, 'live'>;
}

/**
 * Like `planStarts`, but first waits until the tables have each record that is in `events.raw` now. The tables then show all dead letters that were
 * redriven (appended to the log again) before the replay. The replay must know these (redriven-rows.ts).
 */
export async function planWhenStored(deps: BeginReplayDeps, request: ReplayRequest): Promise<RawPlan> {
  const { analytics, shadow } = deps;
  // The tables can be read directly, because no swap (docs/glossary.md) exchanges them while a replay begins.
  const tables: Pick<SteadyTables, 'read'> = { read: (work) => work(analytics) };
  const insertsEnd = () => analytics.runningInsertsEnd(shadow.live);
  if (!(await waitUntilVisible({ ...deps, tables, insertsEnd }))) {
    throw new DependencyError(
      'analytics_unavailable',
      'the tables do not have all records of events.raw yet: the replay begins when they have them',
    );
  }
  return planStarts(deps, request);
}

/** Finds the position at which the replay of each partition begins. */
export async function planStarts(deps: PlanReplayDeps, request: ReplayRequest): Promise<RawPlan> {
  if (request.from === 'raw') return planRawReplay(deps, request);
  const partitions = Array.from({ length: deps.eventLog.partitionCount }, (_, partition) => partition);
  const starts = await Promise.all(partitions.map((partition) => planStart(deps, request, partition)));
  return { starts, note: undefined };
}

async function planStart(deps: PlanReplayDeps, request: ReplayRequest, partition: number): Promise<ReplayStart> {
  const { eventLog, analytics, clock, retentionMs } = deps;
  const [position] = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER, [partition]);
  if (position === undefined) throw new DependencyError('event_log_damaged', `there is no partition ${partition}`);
  // The position is read before the highest raw offset (docs/glossary.md). Therefore every record with raw offset `rawEnd` or higher is at the
  // offset `committed` or later.
  const { first, committed = first } = position;
  const rawEnd = (await analytics.highestRawOffset(eventLog.logId, partition)) + 1;
  if (request.from === 'tables') return { offset: Math.max(first, committed), rawOffset: rawEnd, rawEnd };
  const fromMs = Math.max(keptFrom(clock(), retentionMs), wantedFrom(request));
  const found = (await eventLog.offsetsAtTime(TOPIC_ENRICHED, fromMs))[partition] ?? first;
  const offset = Math.min(Math.max(first, found), Math.max(first, committed));
  const rawOffset = offset === 0 ? 0 : await firstNewRawOffset(eventLog, partition, offset);
  return { offset, rawOffset: Math.min(rawOffset, rawEnd), rawEnd };
}

/**
 * Finds the raw offset with which the replay begins, if it reads the partition from the offset `from`. The first records there can be repeats
 * (docs/glossary.md) of records before `from`. Among `REPEATS_MAX` consecutive records, at least one is not a repeat. So the highest raw offset
 * among these records is higher than those of all records before `from`, and the replay begins with it. If the partition has fewer records, all of
 * them can be repeats. This function then returns `Number.MAX_SAFE_INTEGER`, which `planStart` lowers to `rawEnd`.
 */
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
