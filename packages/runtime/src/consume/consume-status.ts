/** The state of one partition of a consuming role, as shown by `GET /api/admin/pipeline`. */
export interface PartitionStatus {
  readonly partition: number;
  /** The next offset of the topic that this role will process. */
  readonly nextOffset: number;
  /** Average over about ten seconds. */
  readonly recordsPerSecond: number;
  /** The failure that is currently being retried. */
  readonly lastError?: string;
  /** Why an operator may have to act. If `recordsPerSecond` is 0, the partition makes no progress now. */
  readonly alarm?: string;
}

export interface PartitionProgress {
  advance(records: number, nextOffset: number): void;
  /** Call it for each failure that is retried. */
  failed(message: string): void;
  /** Sets the alarm. Returns true if the same alarm was not set already. */
  raise(alarm: string): boolean;
  /** Clears failure and alarm: processing continues. */
  recovered(): void;
  /** Call it if the log delivers no further records of the partition. From then on, `recovered` does not clear the alarm. */
  ended(): void;
  status(): PartitionStatus;
}

const SMOOTHING_MS = 10_000;

/** `onAlarm` is called with true when an alarm is set, and with false when it is cleared. */
export function createPartitionProgress(
  partition: number,
  firstOffset: number,
  clock: () => number,
  onAlarm: (hasAlarm: boolean) => void,
): PartitionProgress {
  let nextOffset = firstOffset;
  let rate = 0;
  let ratedAt = clock();
  let lastError: string | undefined;
  let alarm: string | undefined;
  let hasEnded = false;

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
      if (isNew) onAlarm(true);
      return isNew;
    },
    recovered() {
      lastError = undefined;
      if (hasEnded) return;
      if (alarm !== undefined) onAlarm(false);
      alarm = undefined;
    },
    ended() {
      hasEnded = true;
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
