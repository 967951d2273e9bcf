import type { PartitionPosition } from '@weir/ports/event-log';

/** How many records of a partition the consumer group has not processed yet. Records that retention has removed do not count. */
export function lagOf({ first, end, committed = first }: PartitionPosition): number {
  return end - Math.max(first, committed);
}

export interface LagRate {
  /** `processed`: how many records the consumer has processed so far. Returns its rate in records per second. */
  sample(processed: number): number;
}

const SAMPLE_MS = 2000;

/**
 * Measures the rate of a consumer in another process, or of a replay. Each request that shows the rate is a sample. A new rate is computed from
 * two samples that are at least 2 seconds apart.
 */
export function createLagRate(clock: () => number): LagRate {
  let from: { readonly at: number; readonly processed: number } | undefined;
  let rate = 0;
  return {
    sample(processed) {
      const at = clock();
      if (from === undefined) from = { at, processed };
      if (at - from.at >= SAMPLE_MS) {
        rate = Math.max(0, Math.round(((processed - from.processed) * 10_000) / (at - from.at)) / 10);
        from = { at, processed };
      }
      return rate;
    },
  };
}
