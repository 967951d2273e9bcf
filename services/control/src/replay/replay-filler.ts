import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import type { RunningConsumer } from '@weir/runtime/consume/run-consumer';
import { createRowEraser, startedAt } from './erased-rows-of-log.ts';
import type { ReplayGate } from './replay-gate.ts';
import { createReplayLog } from './replay-log.ts';
import { runOf } from './replay-progress.ts';
import { isWhole, type ReplayedRow, replayedRows, takesRow } from './replay-scope.ts';

/** What the host makes a writer of: the code of the live writer, with another log, other tables and its own group. */
export interface ReplayWriter {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly firstRawOffset: (partition: number) => number;
  /** Undefined: the row is not inserted. */
  readonly lineOf: (partition: number, row: ReplayedRow) => Uint8Array | undefined;
}

export type StartReplayWriter = (writer: ReplayWriter) => Promise<RunningConsumer>;

export interface FillerDeps {
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly shadow: ShadowTables;
  readonly startReplayWriter: StartReplayWriter;
}

/** Starts the writer that fills the shadow tables. */
export function startFiller(
  { eventLog, shadow, registry, startReplayWriter }: FillerDeps,
  { request }: Replay,
  state: ReplayState,
  gate: ReplayGate,
): Promise<RunningConsumer> {
  const { starts } = state;
  const erased = createRowEraser(registry, startedAt({ request, state }));
  const startOf = (partition: number) => starts[partition] ?? { offset: 0, rawOffset: 0, rawEnd: 0 };
  return startReplayWriter({
    eventLog: createReplayLog({ eventLog, run: runOf(state), starts, gate }),
    analytics: {
      ...shadow.analytics,
      highestRawOffset: (logId, partition) => highestReplayed(shadow, logId, partition, startOf(partition), request),
    },
    firstRawOffset: (partition) => startOf(partition).rawOffset,
    lineOf: (partition, row) => (takesRow(row, startOf(partition), request) ? erased(row) : undefined),
  });
}

/** The highest raw offset that the replay has written; the one before its first if there is none. Copied rows do not count. */
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
