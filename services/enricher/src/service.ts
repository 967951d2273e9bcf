import { isDependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { assertLogReaches } from '@weir/runtime/assert-log-reaches';
import { describeError } from '@weir/runtime/consume-retry';
import type { PartitionStatus } from '@weir/runtime/consume-status';
import { createGroupReadiness } from '@weir/runtime/group-readiness';
import { createHeldPartitions } from '@weir/runtime/held-partitions';
import type { Logger } from '@weir/runtime/logger';
import { createConsumeMetrics, type Metrics } from '@weir/runtime/metrics';
import type { Enrichment } from './enrichment.ts';
import { openPartition } from './open-partition.ts';

export interface EnricherDeps<Draft> {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly enrichment: Enrichment<Draft>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits?: EnricherLimits;
}

/** Of one partition at once. What a batch holds must die young: with 4,096 records the collector takes a quarter of the CPU. */
export const BATCH_RECORDS_MAX = 1_024;

export interface EnricherLimits {
  /** Default `BATCH_RECORDS_MAX`. */
  readonly batchRecordsMax?: number;
  readonly batchBytesMax?: number;
  /** How long the raw topic keeps records: an alarm is raised when the oldest unread one is half as old. */
  readonly rawRetentionMs?: number;
}

export interface Enricher {
  /** It takes part in its group. A partition that stands still shows in `status`. */
  ready(): boolean;
  /** One entry per partition that this process has. */
  status(): readonly PartitionStatus[];
  /** Lets go of every partition; a batch under way is finished or repeated by whoever comes next. */
  close(): Promise<void>;
}

/** Turns each record of `events.raw` into its one outcome in `events.enriched`, partition by partition. */
export async function startEnricher<Draft>(deps: EnricherDeps<Draft>): Promise<Enricher> {
  const { eventLog, clock, logger } = deps;
  const { rawRetentionMs = Number.POSITIVE_INFINITY, ...batchLimits } = deps.limits ?? {};
  const metrics = createConsumeMetrics(deps.metrics, 'enricher');
  const held = createHeldPartitions(clock, metrics.released);
  let closed = false;

  const subscription = await eventLog.consume({
    topic: TOPIC_RAW,
    group: GROUP_ENRICHER,
    batchRecordsMax: BATCH_RECORDS_MAX,
    ...batchLimits,
    async open(handle) {
      const { partition } = handle;
      const progress = held.taken(handle);
      await assertNothingIsLost(partition, handle.committed?.offset ?? 0);
      progress.recovered();
      return openPartition(handle, { ...deps, metrics, progress, rawRetentionMs });
    },
    onError(error, partition) {
      // Not a failure: someone else, or the next start, goes on from the commit.
      if (isDependencyError(error, 'partition_lost')) return;
      const { code, message } = describeError(error);
      const progress = partition === undefined ? undefined : held.progressOf(partition);
      const damaged = isDependencyError(error, 'event_log_damaged');
      if (partition !== undefined) {
        metrics.failure(partition, code);
        if (damaged && progress?.raise(message)) metrics.alarm(partition);
      }
      if (!damaged) progress?.failed(message);
      logger[damaged || code === 'bug' ? 'error' : 'warn']({ partition, code, err: error }, 'enricher: retrying');
    },
  });

  async function assertNothingIsLost(partition: number, committed: number): Promise<void> {
    const log = { eventLog, topic: TOPIC_RAW, group: GROUP_ENRICHER, partition };
    await assertLogReaches({ ...log, end: committed, seenBy: "the enricher's commit" });
    const { appliedTo } = await deps.stateStore.readFold({ logId: eventLog.logId, partition }, []);
    await assertLogReaches({ ...log, end: appliedTo, seenBy: 'the state store' });
  }

  const joined = createGroupReadiness(() => subscription.joined(), clock);
  return {
    ready: () => !closed && joined(),
    status: held.status,
    async close() {
      closed = true;
      await subscription.close();
    },
  };
}
