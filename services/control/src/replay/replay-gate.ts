/**
 * Decides when a replay may process records: only up to given raw offsets (docs/glossary.md), at a limited rate, and not while there is an obstacle.
 * While live records arrive, the replay also rests after each piece of work (docs/decisions/0046).
 */
export interface ReplayGate {
  /**
   * Waits until the first of these records may be processed. Resolves with the number of records that may be processed now, counted from
   * the first record. Resolves with 0 if the signal aborts.
   */
  admit(partition: number, rawOffsets: readonly number[], signal: AbortSignal): Promise<number>;
  /** Waits until this number of records may be processed. Resolves with false if the signal aborts. */
  pass(records: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Waits until the first of these outcomes may be processed. `admit` has already admitted their raw records. Resolves with the number of outcomes
   * that may be processed now, or with 0 if the signal aborts.
   */
  admitOutcomes(records: number, signal: AbortSignal): Promise<number>;
  /**
   * Runs `work`, which processes admitted records. Resolves as `work` does. If the replay must rest, no records are admitted from the end of `work`
   * until a rest is over. While `work` runs, the admission of other records is delayed by at most `SLICE_ALONE_MS`.
   */
  slice<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs a statement of ClickHouse at once. Resolves or rejects as the statement does. If the replay must rest, no records are admitted while the
   * statement runs, and the result comes only after a rest. The rest ends early if the signal aborts.
   */
  statement<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Whether the partition has records before its end that were not admitted yet. False until the first record of the partition was
   * admitted.
   */
  expectsMore(partition: number): boolean;
  /** Sets, for each partition, the raw offset at which the replay must stop (exclusive). */
  setEnds(ends: readonly number[]): void;
  /** Sets the reason why the replay must wait, for example a full disk. Undefined if it need not wait. */
  setObstacle(obstacle: string | undefined): void;
  /** Sets whether live records arrive, so that the replay must rest. With `false`, present rests end at once. */
  setBesideLive(besideLive: boolean): void;
  admitted(): number;
  /** The factor by which rests make the present work take longer. */
  slowdown(): number;
  obstacle(): string | undefined;
}

/** Records that are admitted together are a slice. With a limited rate (`--rate`), a slice has the records of a tenth of a second. */
const SLICES_PER_SECOND = 10;
/**
 * While live records arrive and the rate is not limited, a slice has at most this many records, so that it is short. A thread that processes a
 * slice does no other work: it does not run the live enricher and does not answer requests.
 */
const SLICE_RECORDS = 256;
/** A rest takes this many times as long as the slice or statement before it. */
const RESTS_PER_STATEMENT = 2;
const REST_MAX_MS = 4_000;
/**
 * The slice of one partition delays the slices of others by at most this time. Without this limit, partitions could wait for each other: after a loss
 * of state, a slice can wait for another partition.
 */
const SLICE_ALONE_MS = 250;
const NEVER = new AbortController().signal;

export function createReplayGate(recordsPerSecondMax: number | undefined, clock: () => number): ReplayGate {
  let besideLive = false;
  /** No records are admitted before this time, because a slice is processed, or because the rest after it is not over. */
  let sliceRestsUntil = 0;
  let statementsRestUntil = 0;
  let statements = 0;
  /** The total time in which at least one statement was running or resting. Statements that are running or resting now are not counted yet. */
  let statementsMs = 0;
  let statementsSince = 0;
  let admittedCount = 0;
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

  // With a limited rate there are no rests, because the user has chosen the speed.
  const rests = (): boolean => besideLive && recordsPerSecondMax === undefined;
  const restAfter = (workMs: number): number => Math.min(REST_MAX_MS, Math.max(0, workMs) * RESTS_PER_STATEMENT);

  function restLeftMs(): number {
    if (!rests()) return 0;
    const left = Math.max(sliceRestsUntil, statementsRestUntil) - clock();
    // If more time than the longest rest is left, the clock was set back. The rest then ends.
    if (left <= REST_MAX_MS) return left;
    sliceRestsUntil = 0;
    statementsRestUntil = 0;
    return 0;
  }

  async function restUntil(until: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && until > clock() && restLeftMs() > 0) await wait(signal, until - clock());
  }

  const statementsTook = (): number => statementsMs + (statements > 0 ? clock() - statementsSince : 0);

  /**
   * Waits until records may be processed. `count` returns how many records the caller could process now. Resolves with how many of them may be
   * processed, and with 0 if the signal aborts.
   * - `slice`: may admit fewer records than `count` returns (while the replay must rest, or with a limited rate). The caller then processes these
   *   records with the method `slice`.
   * - `whole`: admits all of the records or none.
   * - `paid`: like `slice`, but without the rate limit, which has already counted the raw records of these outcomes.
   */
  async function take(count: () => number, kind: 'slice' | 'whole' | 'paid', signal: AbortSignal): Promise<number> {
    const perSecond = kind === 'paid' ? undefined : recordsPerSecondMax;
    while (!signal.aborted) {
      const wanted = obstacle === undefined ? count() : 0;
      const lateMs = Math.max(perSecond === undefined ? 0 : nextAt - clock(), restLeftMs());
      if (wanted === 0 || (rests() && statements > 0)) await wait(signal);
      else if (lateMs > 0) await wait(signal, lateMs);
      else {
        if (rests() && kind !== 'whole') {
          // The next slice waits for the end of this one, but at most for `SLICE_ALONE_MS`.
          sliceRestsUntil = clock() + SLICE_ALONE_MS;
          return Math.min(wanted, SLICE_RECORDS);
        }
        if (perSecond === undefined) return wanted;
        const taken = kind === 'whole' ? wanted : Math.min(wanted, Math.ceil(perSecond / SLICES_PER_SECOND));
        nextAt = clock() + (taken * 1000) / perSecond;
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
      const count = await take(below, 'slice', signal);
      for (let nth = 0; nth < count; nth++) {
        admitted[partition] = Math.max(admitted[partition] ?? 0, (rawOffsets[nth] as number) + 1);
      }
      admittedCount += count;
      return count;
    },
    async pass(records, signal) {
      const passed = await take(() => records, 'whole', signal);
      admittedCount += passed;
      return passed > 0;
    },
    admitOutcomes: (records, signal) => take(() => records, 'paid', signal),
    async slice(work) {
      const startedAt = clock();
      const tookBefore = statementsTook();
      try {
        return await work();
      } finally {
        // The time of statements is not counted here: a slice can wait for a statement, and each statement has a rest of its own.
        const ownMs = clock() - startedAt - (statementsTook() - tookBefore);
        sliceRestsUntil = clock() + restAfter(ownMs);
        changed();
      }
    },
    async statement(work, signal = NEVER) {
      const startedAt = clock();
      if (statements++ === 0) statementsSince = startedAt;
      try {
        return await work();
      } finally {
        const endedAt = clock();
        const until = Math.max(statementsRestUntil, endedAt) + restAfter(endedAt - startedAt);
        statementsRestUntil = Math.min(until, endedAt + REST_MAX_MS);
        await restUntil(statementsRestUntil, signal);
        if (--statements === 0) statementsMs += clock() - statementsSince;
        changed();
      }
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
    setBesideLive(now) {
      if (besideLive === now) return;
      besideLive = now;
      sliceRestsUntil = 0;
      statementsRestUntil = 0;
      changed();
    },
    admitted: () => admittedCount,
    slowdown: () => (rests() ? 1 + RESTS_PER_STATEMENT : 1),
    obstacle: () => obstacle,
  };
}
