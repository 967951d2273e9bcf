import type { DiskSpace } from '@weir/ports/disk-space';
import type { ConsumeMetrics } from '../prometheus-metrics.ts';
import type { PartitionProgress } from './consume-status.ts';

export interface WaitForDiskSpace {
  readonly disk?: DiskSpace | undefined;
  readonly partition: number;
  readonly signal: AbortSignal;
  readonly progress: Pick<PartitionProgress, 'raise'>;
  readonly metrics: Pick<ConsumeMetrics, 'alarm'>;
}

const CHECK_EVERY_MS = 200;

/** Resolves when the disk has enough free space, or when the partition is revoked. Until then the partition has an alarm. */
export async function waitForDiskSpace({
  disk,
  partition,
  signal,
  progress,
  metrics,
}: WaitForDiskSpace): Promise<void> {
  for (;;) {
    const shortage = disk?.shortage();
    if (shortage === undefined || signal.aborted) return;
    if (progress.raise(shortage)) metrics.alarm(partition);
    await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
  }
}
