import { isDependencyError } from '@weir/domain/errors';
import type { ConsumeOptions, EventLog, PartitionConsumer, PartitionHandle } from '@weir/ports/event-log';
import type { Logger } from '../logger.ts';
import { type ConsumeMetrics, type ConsumingRole, createConsumeMetrics, type Metrics } from '../prometheus-metrics.ts';
import { createAssignedPartitions } from './assigned-partitions.ts';
import { describeError } from './consume-retry.ts';
import type { PartitionProgress, PartitionStatus } from './consume-status.ts';
import { createGroupReadiness } from './group-readiness.ts';

export interface ConsumerOptions extends Pick<ConsumeOptions, 'batchRecordsMax' | 'batchBytesMax'> {
  readonly role: ConsumingRole;
  readonly topic: string;
  readonly group: string;
  readonly eventLog: EventLog;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Opens one assigned partition. When it rejects, the event log calls it again with the same handle after a pause. */
  openPartition(assigned: AssignedPartition): Promise<PartitionConsumer>;
}

/** What a role needs to work on one assigned partition. */
export interface AssignedPartition {
  readonly handle: PartitionHandle;
  readonly progress: PartitionProgress;
  readonly metrics: ConsumeMetrics;
}

export interface RunningConsumer {
  /**
   * True if this process has joined its group and was not out of it for more than `REJOIN_MAX_MS` (group-readiness.ts). It does not say whether
   * the partitions make progress: see `status`.
   */
  ready(): boolean;
  /** One entry per partition that is assigned to this process. */
  status(): readonly PartitionStatus[];
  /** Releases all partitions. Resolves when running work has ended; the next owners continue from the commits. */
  close(): Promise<void>;
}

/**
 * Runs a consuming role: subscribes, tracks the assigned partitions, turns failures into log lines, metrics and alarms, and
 * answers whether the role is ready. The enricher, the writer and the archiver use this function, each with its own `openPartition`.
 */
export async function runConsumer(options: ConsumerOptions): Promise<RunningConsumer> {
  const { role, topic, group, eventLog, clock, logger, batchRecordsMax, batchBytesMax } = options;
  const metrics = createConsumeMetrics(options.metrics, role);
  const assigned = createAssignedPartitions(clock, metrics);
  let closed = false;

  const subscription = await eventLog.consume({
    topic,
    group,
    ...(batchRecordsMax === undefined ? {} : { batchRecordsMax }),
    ...(batchBytesMax === undefined ? {} : { batchBytesMax }),
    async open(handle) {
      const progress = assigned.assign(handle);
      const consumer = await options.openPartition({ handle, progress, metrics });
      progress.recovered();
      return {
        ...consumer,
        // The log then reports the loss through `onError`, which raises an alarm. Work that the consumer completes later must not clear it.
        async truncated(end) {
          progress.ended();
          await consumer.truncated?.(end);
        },
      };
    },
    onError(error, partition) {
      // A rebalance is not a failure: the next owner continues from the commit.
      if (isDependencyError(error, 'partition_lost')) return;
      const { code, message } = describeError(error);
      const progress = partition === undefined ? undefined : assigned.progressOf(partition);
      const damaged = isDependencyError(error, 'event_log_damaged');
      if (partition !== undefined) {
        metrics.failure(partition, code);
        if (damaged && progress?.raise(message)) metrics.alarm(partition);
      }
      if (!damaged) progress?.failed(message);
      logger[damaged || code === 'bug' ? 'error' : 'warn']({ partition, code, err: error }, `${role}: retrying`);
    },
  });

  const joined = createGroupReadiness(() => subscription.joined(), clock);
  return {
    ready: () => !closed && joined(),
    status: assigned.status,
    async close() {
      closed = true;
      await subscription.close();
    },
  };
}
