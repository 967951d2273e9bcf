import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import { GROUP_PARQUET } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import { createArchiveMetric } from '@weir/runtime/archive/archive-metrics';
import { describeError, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { takePart } from '../background/election.ts';
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

const LOOK_EVERY_MS = 60_000;

/** Starts to export the rows of each day when the day is complete, in the process that is elected for this (election.ts). */
export async function startParquetExporter(deps: ParquetExporterDeps): Promise<ParquetExporter> {
  const { logger } = deps;
  const setFailing = createArchiveMetric(deps.metrics, 'parquet');
  let problem: string | undefined;
  function setProblem(next: string | undefined): void {
    problem = next;
    setFailing(next !== undefined);
  }

  async function exportAlways(signal: AbortSignal, fence: () => Promise<void>): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let waits: string | undefined;
      const onWait = (reason: string): void => {
        if (reason !== problem) logger.warn({}, reason);
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
          logger.warn({ err: error }, 'the export of Parquet files failed; the next attempt continues');
          setProblem(`the export of Parquet files failed: ${describeError(error).message}`);
        }
        await pauseBeforeRetry(failures++, signal);
      }
    }
    setProblem(undefined);
  }

  const subscription = await takePart({
    ...deps,
    group: GROUP_PARQUET,
    onError: (error) => logger.warn({ err: error }, 'parquet: retrying to take part in the election'),
    lead({ signal }, fence) {
      const exporting = exportAlways(signal, fence);
      return () => exporting;
    },
  });
  return { problem: () => problem, close: () => subscription.close() };
}
