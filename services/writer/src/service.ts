import { isDependencyError } from '@weir/domain/errors';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import { describeError } from '@weir/runtime/consume-retry';
import type { PartitionStatus } from '@weir/runtime/consume-status';
import { createGroupReadiness } from '@weir/runtime/group-readiness';
import { createHeldPartitions } from '@weir/runtime/held-partitions';
import type { Logger } from '@weir/runtime/logger';
import { createConsumeMetrics, type Metrics } from '@weir/runtime/metrics';
import { createSlots } from './insert-slots.ts';
import { openPartition, type WriterLimits } from './open-partition.ts';

export interface WriterDeps {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly limits: WriterLimits & {
    /** Inserts of different partitions under way at once; default 2. */
    readonly insertsMax?: number;
  };
}

export interface Writer {
  /** It takes part in its group. A partition that stands still shows in `status`. */
  ready(): boolean;
  /** One entry per partition that this process has. */
  status(): readonly PartitionStatus[];
  /** Lets go of every partition; an insert under way is waited for, rows that gather are left to whoever comes next. */
  close(): Promise<void>;
}

/** Takes each outcome of `events.enriched` into the table `records`, exactly once, partition by partition. */
export async function startWriter(deps: WriterDeps): Promise<Writer> {
  const { eventLog, analytics, clock, logger, limits } = deps;
  const metrics = createConsumeMetrics(deps.metrics, 'writer');
  const held = createHeldPartitions(clock, metrics.released);
  const insertSlots = createSlots(limits.insertsMax ?? 2);
  let closed = false;

  const subscription = await eventLog.consume({
    topic: TOPIC_ENRICHED,
    group: GROUP_WRITER,
    async open(handle) {
      const progress = held.taken(handle);
      const { logId } = eventLog;
      const consumer = await openPartition({
        handle,
        eventLog,
        logId,
        analytics,
        clock,
        logger,
        metrics,
        progress,
        insertSlots,
        limits,
      });
      progress.recovered();
      return consumer;
    },
    onError(error, partition) {
      // Not a failure: someone else, or the next start, goes on from the commit.
      if (isDependencyError(error, 'partition_lost')) return;
      const { code, message } = describeError(error);
      const damaged = isDependencyError(error, 'event_log_damaged');
      const progress = partition === undefined ? undefined : held.progressOf(partition);
      if (partition !== undefined) {
        metrics.failure(partition, code);
        if (damaged && progress?.raise(message)) metrics.alarm(partition);
      }
      if (!damaged) progress?.failed(message);
      logger[damaged || code === 'bug' ? 'error' : 'warn']({ partition, code, err: error }, 'writer: retrying');
    },
  });

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
