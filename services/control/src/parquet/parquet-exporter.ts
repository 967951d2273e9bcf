import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import { GROUP_PARQUET, TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
import { untilAborted } from '@weir/runtime/abortable';
import { createArchiveMetric } from '@weir/runtime/archive/archive-metrics';
import { describeError, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { passFence } from '../background/pass-fence.ts';
import { exportParquet, type ParquetDeps } from './export-parquet.ts';

export interface ParquetExporterDeps extends Omit<ParquetDeps, 'onWait'> {
  readonly eventLog: EventLog;
  readonly metrics: Metrics;
}

export interface ParquetExporter {
  /** Why the export fails or waits. Undefined if it does neither, or if another process exports. */
  problem(): string | undefined;
  close(): Promise<void>;
}

interface ExporterState {
  readonly problem: () => string | undefined;
  readonly setProblem: (problem: string | undefined) => void;
}

const LOOK_EVERY_MS = 60_000;

/**
 * Starts to export the rows of each day when the day is complete. A consumer group on the topic `registry` elects the process that exports:
 * the owner of partition 0.
 */
export async function startParquetExporter(deps: ParquetExporterDeps): Promise<ParquetExporter> {
  const { eventLog, logger } = deps;
  const setFailing = createArchiveMetric(deps.metrics, 'parquet');
  let problem: string | undefined;
  const state: ExporterState = {
    problem: () => problem,
    setProblem(next) {
      problem = next;
      setFailing(next !== undefined);
    },
  };
  const subscription = await eventLog.consume({
    topic: TABLE_REGISTRY,
    group: GROUP_PARQUET,
    onError: (error) => logger.warn({ err: error }, 'parquet: retrying to take part in the election'),
    async open(handle) {
      const exporting = handle.partition === 0 ? exportAlways(deps, handle, state) : Promise.resolve();
      return { handle: () => untilAborted(handle.signal), close: () => exporting };
    },
  });
  return { problem: state.problem, close: () => subscription.close() };
}

async function exportAlways(
  deps: ParquetExporterDeps,
  handle: PartitionHandle,
  { problem, setProblem }: ExporterState,
): Promise<void> {
  const { signal } = handle;
  const fence = () => passFence(handle, deps.clock);
  for (let failures = 0; !signal.aborted; ) {
    let waits: string | undefined;
    const onWait = (reason: string): void => {
      if (reason !== problem()) deps.logger.warn({}, reason);
      waits = reason;
    };
    try {
      await exportParquet({ ...deps, onWait }, signal, fence);
      setProblem(waits);
      failures = 0;
      await pause(LOOK_EVERY_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) break;
      // `partition_lost` means that another process was elected. This is not an error: that process continues with the same file.
      if (!isDependencyError(error, 'partition_lost')) {
        deps.logger.warn({ err: error }, 'the export of Parquet files failed; the next attempt continues');
        setProblem(`the export of Parquet files failed: ${describeError(error).message}`);
      }
      await pauseBeforeRetry(failures++, signal);
    }
  }
  setProblem(undefined);
}
