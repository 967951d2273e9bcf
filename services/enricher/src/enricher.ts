import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog, PartitionHandle } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { assertLogNotTruncated } from '@weir/runtime/consume/assert-log-not-truncated';
import { type RunningConsumer, runConsumer } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';
import { createMetrics, createStateMetrics, type Metrics } from '@weir/runtime/prometheus-metrics';
import { openPartition } from './pipeline/enrich-partition.ts';
import type { Enrichment } from './pipeline/enrichment.ts';
import { createStateBarrier } from './pipeline/state-barrier.ts';
import { truncationOf, truncationText } from './pipeline/truncation.ts';

export interface EnricherDeps<Decoded> {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly enrichment: Enrichment<Decoded>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The enricher stops processing while this reports too little free space. */
  readonly disk?: DiskSpace | undefined;
  readonly limits?: EnricherLimits;
  /**
   * Only for a replay, which processes old records again. A replay does not decide again which records are duplicates. It reads from
   * `events.enriched` of this log which of them became duplicates in the live enricher. In a replay, `eventLog` does not contain these outcomes.
   */
  readonly answeredIn?: EventLog;
}

/**
 * The maximum number of records of one partition in a batch. The objects of a larger batch would be promoted to the old generation of
 * the garbage collector: with 4,096 records, garbage collection took a quarter of the CPU time.
 */
export const BATCH_RECORDS_MAX = 1_024;

export interface EnricherLimits {
  /** The default is `BATCH_RECORDS_MAX`. */
  readonly batchRecordsMax?: number;
  readonly batchBytesMax?: number;
  /** How long the raw topic keeps records. An alarm is raised when the next record to process is older than half of this time. */
  readonly rawRetentionMs?: number;
}

export interface Enricher extends RunningConsumer {
  /**
   * A progress message while the enricher rebuilds lost content of the state store from the log, otherwise undefined. During a rebuild, records with
   * an idempotency key wait.
   */
  rebuilding(): string | undefined;
}

/**
 * Starts the enricher, which turns each record of `events.raw` into exactly one outcome in `events.enriched`, partition by partition. An outcome is,
 * for example, a row, a duplicate or a dead letter.
 */
export async function startEnricher<Decoded>(deps: EnricherDeps<Decoded>): Promise<Enricher> {
  const { eventLog, clock, logger, metrics } = deps;
  const { rawRetentionMs = Number.POSITIVE_INFINITY, ...batchLimits } = deps.limits ?? {};
  const barrier = createStateBarrier({
    ...deps,
    logId: eventLog.logId,
    partitions: eventLog.partitionCount,
    // A replay has its own state store. The metrics of this store must not mix with those of the live state store, so they are not exported.
    metrics: createStateMetrics(deps.answeredIn === undefined ? metrics : createMetrics()),
  });

  const consumer = await runConsumer({
    role: deps.answeredIn === undefined ? 'enricher' : 'replay_enricher',
    topic: TOPIC_RAW,
    group: GROUP_ENRICHER,
    batchRecordsMax: BATCH_RECORDS_MAX,
    ...batchLimits,
    eventLog,
    clock,
    logger,
    metrics,
    async openPartition(assigned) {
      const { handle } = assigned;
      await assertNoLoss(handle);
      return openPartition(handle, { ...deps, ...assigned, rawRetentionMs, barrier });
    },
  });
  return {
    ready: consumer.ready,
    status() {
      const lastError = barrier.rebuilding();
      const partitions = consumer.status();
      return lastError === undefined ? partitions : partitions.map((one) => ({ lastError, ...one }));
    },
    rebuilding: barrier.rebuilding,
    async close() {
      barrier.close();
      await consumer.close();
    },
  };

  async function assertNoLoss(handle: PartitionHandle): Promise<void> {
    const { partition, committed } = handle;
    const log = {
      ...{ eventLog, topic: TOPIC_RAW, group: GROUP_ENRICHER, partition },
      truncatedAt: truncationOf(committed),
      // New records can be appended at the lost offsets before the next check. Without the stored offset, that check would find no loss, and the
      // enricher would skip these records. Without a commit, no record was processed, so none is skipped.
      async onTruncated(end: number) {
        if (committed !== undefined) await handle.commit({ ...committed, metadata: truncationText(end) });
      },
    };
    await assertLogNotTruncated({ ...log, end: committed?.offset ?? 0, seenBy: "the enricher's commit" });
    const { id } = await barrier.current();
    const { appliedTo } = await deps.stateStore.readState(id, { logId: eventLog.logId, partition }, []);
    await assertLogNotTruncated({ ...log, end: appliedTo, seenBy: 'the state store' });
  }
}
