/** Decides when a replay may process records: only up to given raw offsets, at a limited rate, and not while there is an obstacle. */
export interface ReplayGate {
  /**
   * Waits until the first of these records may be processed. Resolves with the number of records that may be processed now, counted from
   * the first record. Resolves with 0 if the signal aborts.
   */
  admit(partition: number, rawOffsets: readonly number[], signal: AbortSignal): Promise<number>;
  /** Waits until this number of records may be processed. Resolves with false if the signal aborts. */
  pass(records: number, signal: AbortSignal): Promise<boolean>;
  /** Resolves with true when there is no obstacle, and with false if the signal aborts. */
  clear(signal: AbortSignal): Promise<boolean>;
  /**
   * Whether the partition has records before its end that were not admitted yet. False until the first record of the partition was
   * admitted.
   */
  expectsMore(partition: number): boolean;
  /** Sets, for each partition, the raw offset at which the replay must stop (exclusive). */
  setEnds(ends: readonly number[]): void;
  /** Sets the reason why the replay must wait, for example a full disk. Undefined if it need not wait. */
  setObstacle(obstacle: string | undefined): void;
  obstacle(): string | undefined;
}

/** With a limited rate, the records of a tenth of a second are admitted together. */
const SLICES_PER_SECOND = 10;

export function createReplayGate(recordsPerSecondMax: number | undefined, clock: () => number): ReplayGate {
  let ends: readonly number[] = [];
  let obstacle: string | undefined;
  let nextAt = 0;
  /** For each partition, one past the highest raw offset that was admitted. */
  const admitted: number[] = [];
  const waiting = new Set<() => void>();

  const changed = (): void => {
    for (const wake of waiting) wake();
  };

  /** Resolves after a change, after `withinMs`, or when the signal aborts. */
  function wait(signal: AbortSignal, withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = withinMs === undefined ? undefined : setTimeout(wake, withinMs);
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted) wake();
    });
  }

  /**
   * Waits until records may be processed. `count` returns how many records the caller could process now. Resolves with how many of them may
   * be processed (`whole`: all or none), and with 0 if the signal aborts.
   */
  async function take(count: () => number, whole: boolean, signal: AbortSignal): Promise<number> {
    while (!signal.aborted) {
      const wanted = obstacle === undefined ? count() : 0;
      const lateMs = nextAt - clock();
      if (wanted === 0) await wait(signal);
      else if (lateMs > 0) await wait(signal, lateMs);
      else {
        if (recordsPerSecondMax === undefined) return wanted;
        const taken = whole ? wanted : Math.min(wanted, Math.ceil(recordsPerSecondMax / SLICES_PER_SECOND));
        nextAt = clock() + (taken * 1000) / recordsPerSecondMax;
        return taken;
      }
    }
    return 0;
  }

  return {
    async admit(partition, rawOffsets, signal) {
      const below = (): number => {
        const end = ends[partition] ?? 0;
        const at = rawOffsets.findIndex((rawOffset) => rawOffset >= end);
        return at === -1 ? rawOffsets.length : at;
      };
      const count = await take(below, false, signal);
      for (let nth = 0; nth < count; nth++) {
        admitted[partition] = Math.max(admitted[partition] ?? 0, (rawOffsets[nth] as number) + 1);
      }
      return count;
    },
    async pass(records, signal) {
      return (await take(() => records, true, signal)) > 0;
    },
    async clear(signal) {
      while (obstacle !== undefined && !signal.aborted) await wait(signal);
      return !signal.aborted;
    },
    expectsMore: (partition) => (admitted[partition] ?? Number.POSITIVE_INFINITY) < (ends[partition] ?? 0),
    setEnds(now) {
      ends = now;
      changed();
    },
    setObstacle(now) {
      obstacle = now;
      changed();
    },
    obstacle: () => obstacle,
  };
}
