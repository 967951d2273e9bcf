/** Lets the replay go on while that delays nothing: up to given raw offsets, at a limited rate, and not while live traffic waits. */
export interface ReplayGate {
  /**
   * Resolves with how many of the records may be handled now, from the first on, given their raw offsets: at least one, and 0 if the
   * signal aborts.
   */
  admit(partition: number, rawOffsets: readonly number[], signal: AbortSignal): Promise<number>;
  /** Resolves when `records` may be handled. False: the signal aborts. */
  pass(records: number, signal: AbortSignal): Promise<boolean>;
  /** By partition: one past the last raw offset that may be handled. */
  setEnds(ends: readonly number[]): void;
  /** Why nothing is admitted now; undefined: nothing hinders. */
  setObstacle(obstacle: string | undefined): void;
  obstacle(): string | undefined;
}

/** With a limited rate, this part of a second is admitted at once. */
const SLICES_PER_SECOND = 10;

export function createReplayGate(recordsPerSecondMax: number | undefined, clock: () => number): ReplayGate {
  let ends: readonly number[] = [];
  let obstacle: string | undefined;
  let nextAt = 0;
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

  /** Resolves with how many of at most `count()` may pass, when that is not 0; with 0 if the signal aborts. */
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
    admit(partition, rawOffsets, signal) {
      const below = (): number => {
        const end = ends[partition] ?? 0;
        const at = rawOffsets.findIndex((rawOffset) => rawOffset >= end);
        return at === -1 ? rawOffsets.length : at;
      };
      return take(below, false, signal);
    },
    async pass(records, signal) {
      return (await take(() => records, true, signal)) > 0;
    },
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
