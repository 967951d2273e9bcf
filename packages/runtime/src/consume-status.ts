/** What `GET /api/admin/pipeline` shows of one partition of a consuming role. */
export interface PartitionStatus {
  readonly partition: number;
  /** The next offset that this role will deal with, in its topic. */
  readonly nextOffset: number;
  /** Smoothed over about ten seconds. */
  readonly recordsPerSecond: number;
  /** The failure that is being retried now. */
  readonly lastError?: string;
  /** Why a person should look; where nothing goes on (`recordsPerSecond`), the partition stands still until then. */
  readonly alarm?: string;
}

export interface PartitionProgress {
  advance(records: number, nextOffset: number): void;
  /** Something failed and is being retried. */
  failed(message: string): void;
  /** True where this alarm was not standing already. */
  raise(alarm: string): boolean;
  /** Work goes on: forgets failure and alarm. */
  recovered(): void;
  status(): PartitionStatus;
}

const SMOOTHING_MS = 10_000;

export function createPartitionProgress(
  partition: number,
  firstOffset: number,
  clock: () => number,
): PartitionProgress {
  let nextOffset = firstOffset;
  let rate = 0;
  let ratedAt = clock();
  let lastError: string | undefined;
  let alarm: string | undefined;

  const decay = (): void => {
    const now = clock();
    rate *= Math.exp(-Math.max(0, now - ratedAt) / SMOOTHING_MS);
    ratedAt = now;
  };

  return {
    advance(records, next) {
      decay();
      rate += (records * 1000) / SMOOTHING_MS;
      nextOffset = next;
    },
    failed(message) {
      lastError = message;
    },
    raise(message) {
      const isNew = alarm !== message;
      alarm = message;
      return isNew;
    },
    recovered() {
      lastError = undefined;
      alarm = undefined;
    },
    status() {
      decay();
      return {
        partition,
        nextOffset,
        recordsPerSecond: Math.round(rate * 10) / 10,
        ...(lastError === undefined ? {} : { lastError }),
        ...(alarm === undefined ? {} : { alarm }),
      };
    },
  };
}
