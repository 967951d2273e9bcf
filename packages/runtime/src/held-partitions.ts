import type { PartitionHandle } from '@weir/ports/event-log';
import { createPartitionProgress, type PartitionProgress, type PartitionStatus } from './consume-status.ts';

/** The partitions that a consuming role has now, and how each of them goes on. */
export interface HeldPartitions {
  /** For `open`: the same progress at each try of one handle, forgotten when its signal aborts, whether or not it was ever open. */
  taken(handle: PartitionHandle): PartitionProgress;
  progressOf(partition: number): PartitionProgress | undefined;
  /** In order of their numbers. */
  status(): readonly PartitionStatus[];
}

/** `released` is called with a partition that is taken away. */
export function createHeldPartitions(clock: () => number, released: (partition: number) => void): HeldPartitions {
  const held = new Map<number, { readonly signal: AbortSignal; readonly progress: PartitionProgress }>();

  return {
    taken({ partition, committed, signal }) {
      const known = held.get(partition);
      if (known?.signal === signal) return known.progress;
      const progress = createPartitionProgress(partition, committed?.offset ?? 0, clock);
      held.set(partition, { signal, progress });
      signal.addEventListener('abort', () => {
        if (held.get(partition)?.signal !== signal) return;
        held.delete(partition);
        released(partition);
      });
      return progress;
    },
    progressOf: (partition) => held.get(partition)?.progress,
    status: () => [...held.values()].map(({ progress }) => progress.status()).sort((a, b) => a.partition - b.partition),
  };
}
