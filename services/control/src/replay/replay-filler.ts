import { erasedLine } from '@weir/domain/erasure/erase-line';
import { DependencyError } from '@weir/domain/errors';
import { rawOffsetOf } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED, TOPIC_REPLAYED } from '@weir/domain/records/topics';
import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import type { RunningConsumer } from '@weir/runtime/consume/run-consumer';
import { type RedrivenRows, readRedrivenRows } from '../dead-letters/redriven-rows.ts';
import { createRowEraser, erasureSince, startedAt } from './erased-rows-of-log.ts';
import { createRawLog, isOfRun } from './raw/raw-log.ts';
import { type IsErased, readErasedRows } from './raw/rows-erased-before.ts';
import { type HasNoSite, readRowsWithoutSite } from './raw/rows-without-site.ts';
import type { ReplayGate } from './replay-gate.ts';
import { createReplayLog } from './replay-log.ts';
import { readsRaw, runOf } from './replay-progress.ts';
import { isWhole, type ReplayedRow, replayedRows, takesRow } from './replay-scope.ts';

/** The parts from which services/host creates the writer of a replay. This writer runs the code of the live writer, with its own consumer group. */
export interface ReplayWriter {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly firstRawOffset: (partition: number) => number;
  /** The line that is inserted for a row. Undefined if the row is not inserted. */
  readonly lineOf: (partition: number, row: ReplayedRow) => Uint8Array | undefined;
  /** Whether more rows of the partition will follow soon, so that the writer can wait for a full batch. */
  readonly expectsMore: (partition: number) => boolean;
}

export type StartReplayWriter = (writer: ReplayWriter) => Promise<RunningConsumer>;

/**
 * The parts from which services/host creates the enricher of a replay. This enricher runs the code of the live enricher, with another log and
 * its own state.
 */
export interface ReplayEnricher {
  readonly eventLog: EventLog;
  readonly firstRawOffset: (partition: number) => number;
}

export interface RawReplays {
  readonly startEnricher: (enricher: ReplayEnricher) => Promise<RunningConsumer>;
  /** Removes the state of a replay. Call it only when no enricher of a replay runs. */
  removeState(): Promise<void>;
  /** How long `events.raw` keeps records. */
  readonly retentionMs: number;
}

export interface FillerDeps {
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly shadow: ShadowTables;
  readonly startReplayWriter: StartReplayWriter;
  readonly raw: RawReplays;
  readonly clock: () => number;
}

/** Starts the writer that fills the shadow tables (docs/glossary.md). For a replay from raw, also starts the enricher whose outcomes it inserts. */
export async function startFiller(
  deps: FillerDeps,
  replay: Replay,
  state: ReplayState,
  gate: ReplayGate,
): Promise<RunningConsumer> {
  const { eventLog, raw, clock, shadow } = deps;
  const { starts } = state;
  const redriven = await readRedrivenRows(shadow);
  const isRaw = readsRaw(replay, state);
  const isOfSite = replay.request.siteId !== undefined;
  const hasNoSite = isRaw && isOfSite ? await readRowsWithoutSite(shadow, eventLog.logId, starts) : () => false;
  const isErased = isRaw ? await erasedBefore(deps, replay, state) : () => false;
  const openWriter = () => startWriter(deps, replay, state, gate, { redriven, hasNoSite, isErased });
  if (!isRaw) return openWriter();
  const enricher = await raw.startEnricher({
    eventLog: createRawLog({
      eventLog,
      run: runOf(state),
      starts,
      gate,
      clock,
      redriven,
      rawRetentionMs: raw.retentionMs,
    }),
    firstRawOffset: (partition) => starts[partition]?.rawOffset ?? 0,
  });
  const writer = await openWriter().catch(async (error: unknown) => {
    await enricher.close();
    throw error;
  });
  return {
    ready: () => enricher.ready() && writer.ready(),
    status: () => [...enricher.status(), ...writer.status()],
    async close() {
      await enricher.close();
      await writer.close();
    },
  };
}

/**
 * Reads which records were erased before the replay began. Rejects if there was an erasure since then: a repeated insert would have other bytes than
 * its first attempt, and the swap (docs/glossary.md) would be refused anyway.
 */
async function erasedBefore(
  { eventLog, shadow, registry }: FillerDeps,
  replay: Replay,
  state: ReplayState,
): Promise<IsErased> {
  const isErased = await readErasedRows(shadow, eventLog.logId, state.starts);
  const erasure = erasureSince(registry, { ...replay, state });
  if (erasure !== undefined) throw new DependencyError('analytics_refused', erasure);
  return isErased;
}

function startWriter(
  { eventLog, shadow, registry, startReplayWriter }: FillerDeps,
  replay: Replay,
  state: ReplayState,
  gate: ReplayGate,
  {
    redriven,
    hasNoSite,
    isErased,
  }: { readonly redriven: RedrivenRows; readonly hasNoSite: HasNoSite; readonly isErased: IsErased },
): Promise<RunningConsumer> {
  const { request } = replay;
  const { starts } = state;
  const run = runOf(state);
  const isRaw = readsRaw(replay, state);
  const erased = createRowEraser(registry, startedAt({ request, state }), request.keep);
  const startOf = (partition: number) => starts[partition] ?? { offset: 0, rawOffset: 0, rawEnd: 0 };
  return startReplayWriter({
    eventLog: createReplayLog({
      eventLog,
      topic: isRaw ? TOPIC_REPLAYED : TOPIC_ENRICHED,
      run,
      starts,
      isOwn: (record) => !isRaw || isOfRun(record, run),
      gate,
      // In a replay from raw, the enricher has already waited for the rate limit, so the writer only waits for obstacles and rests (replay-gate.ts).
      admit: ({ partition, signal }, records) =>
        isRaw ? gate.admitOutcomes(records.length, signal) : gate.admit(partition, records.map(rawOffsetOf), signal),
    }),
    analytics: {
      ...restingAfterInserts(shadow.analytics, gate),
      highestRawOffset: (logId, partition) => highestReplayed(shadow, logId, partition, startOf(partition), request),
    },
    firstRawOffset: (partition) => startOf(partition).rawOffset,
    lineOf(partition, read) {
      // The enricher of the replay gets a redriven record without its bytes (raw-log.ts), so the row that it makes has no site. The row of
      // `redriven` has the site, which `takesRow` needs.
      const row = redriven.row(eventLog.logId, partition, read);
      if (hasNoSite(partition, row.rawOffset) || !takesRow(row, startOf(partition), request)) return undefined;
      return isErased(partition, row.rawOffset) ? erasedLine(row.line, row.version) : erased(row);
    },
    expectsMore: gate.expectsMore,
  });
}

/**
 * Returns `analytics` with a rest after each insert, so that a replay delays live traffic less. There is no rest before an insert, because the writer
 * must insert soon after it has committed its plan (docs/glossary.md).
 */
export function restingAfterInserts(analytics: Analytics, gate: ReplayGate): Analytics {
  return { ...analytics, insertRecords: (batch) => gate.statement(() => analytics.insertRecords(batch)) };
}

/**
 * Returns the highest raw offset (docs/glossary.md) that the replay has written in the partition. Rows that were copied from the live table `records`
 * do not count. If the replay has written no row, returns the first raw offset of the replay minus 1.
 */
export async function highestReplayed(
  { analytics, shadow }: Pick<ShadowTables, 'analytics' | 'shadow'>,
  logId: string,
  partition: number,
  start: ReplayState['starts'][number],
  scope: Replay['request'],
): Promise<number> {
  // Without a scope, each copied row of this log has a lower raw offset than the first replayed row. So the highest raw offset of the
  // table is the answer, and ClickHouse reads it from the projection `offsets` instead of all rows.
  if (isWhole(scope)) return Math.max(start.rawOffset - 1, await analytics.highestRawOffset(logId, partition));
  const { sql, params } = replayedRows(logId, partition, start, scope);
  const [row] = await analytics.select<{ highest: string | number }>(
    `SELECT if(count() = 0, -1, toInt64(max(raw_offset))) AS highest FROM ${shadow}.records WHERE ${sql}`,
    params,
  );
  return Math.max(start.rawOffset - 1, Number(row?.highest ?? -1));
}
