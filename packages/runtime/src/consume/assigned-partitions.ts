import type { PartitionHandle } from '@weir/ports/event-log';
import type { ConsumeMetrics } from '../prometheus-metrics.ts';
import { createPartitionProgress, type PartitionProgress, type PartitionStatus } from './consume-status.ts';

/** The partitions that are assigned to a consuming role in this process, and the progress of each. */
export interface AssignedPartitions {
  /** Call it each time a partition is opened. Retries with the same handle get the same progress, until the signal of the handle aborts. */
  assign(handle: PartitionHandle): PartitionProgress;
  progressOf(partition: number): PartitionProgress | undefined;
  /** Returns the status of each assigned partition, in the order of the partition numbers. */
  status(): readonly PartitionStatus[];
}

/** `metrics.revoked` is called for each partition that is revoked, or whose subscription closes. */
export function createAssignedPartitions(
  clock: () => number,
  metrics: Pick<ConsumeMetrics, 'assigned' | 'alarmed' | 'revoked'>,
): AssignedPartitions {
  const assigned = new Map<number, { readonly signal: AbortSignal; readonly progress: PartitionProgress }>();

  return {
    assign({ partition, committed, signal }) {
      const known = assigned.get(partition);
      if (known?.signal === signal) return known.progress;
      // An alarm of an assignment that has ended must not set the metric: it would never be cleared.
      const onAlarm = (hasAlarm: boolean): void => {
        if (assigned.get(partition)?.signal === signal) metrics.alarmed(partition, hasAlarm);
      };
      const progress = createPartitionProgress(partition, committed?.offset ?? 0, clock, onAlarm);
      assigned.set(partition, { signal, progress });
      metrics.assigned(partition);
      signal.addEventListener('abort', () => {
        if (assigned.get(partition)?.signal !== signal) return;
        assigned.delete(partition);
        metrics.revoked(partition);
      });
      return progress;
    },
    progressOf: (partition) => assigned.get(partition)?.progress,
    status: () =>
      [...assigned.values()].map(({ progress }) => progress.status()).sort((a, b) => a.partition - b.partition),
  };
}
