import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import { GROUP_PARQUET, TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
import { pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import { passFence } from '../pass-fence.ts';
import { untilAborted } from '../replay/replayer.ts';
import { exportParquet, type ParquetDeps } from './export-parquet.ts';

export interface ParquetExporterDeps extends ParquetDeps {
  readonly eventLog: EventLog;
}

const LOOK_EVERY_MS = 60_000;

/**
 * Starts to export the rows of each day when the day is complete. A consumer group on the topic `registry` elects the process that exports:
 * the owner of partition 0.
 */
export async function startParquetExporter(deps: ParquetExporterDeps): Promise<{ close(): Promise<void> }> {
  const { eventLog, logger } = deps;
  return eventLog.consume({
    topic: TABLE_REGISTRY,
    group: GROUP_PARQUET,
    onError: (error) => logger.warn({ err: error }, 'parquet: retrying to take part in the election'),
    async open(handle) {
      const exporting = handle.partition === 0 ? exportAlways(deps, handle) : Promise.resolve();
      return { handle: () => untilAborted(handle.signal), close: () => exporting };
    },
  });
}

async function exportAlways(deps: ParquetExporterDeps, handle: PartitionHandle): Promise<void> {
  const { signal } = handle;
  const warned = new Set<string>();
  const fence = () => passFence(handle, deps.clock);
  for (let failures = 0; !signal.aborted; ) {
    try {
      await exportParquet({ ...deps, warned }, signal, fence);
      failures = 0;
      await pause(LOOK_EVERY_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      // `partition_lost` means that another process was elected. This is not an error: that process continues with the same file.
      if (!isDependencyError(error, 'partition_lost'))
        deps.logger.warn({ err: error }, 'the export of Parquet files failed; the next attempt continues');
      await pauseBeforeRetry(failures++, signal);
    }
  }
}
