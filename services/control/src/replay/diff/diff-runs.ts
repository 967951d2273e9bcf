import { setTimeout as pause } from 'node:timers/promises';
import type { ReplayDiff, ReportSteps } from './replay-diff.ts';

/** The progress of a diff that is still being computed. */
export interface UnfinishedDiff {
  readonly steps_done: number;
  readonly steps: number;
}

/** Computes one diff at a time. A diff of many millions of rows takes longer than a client should wait for an answer. */
export interface DiffRuns {
  /**
   * Resolves with the diff if it is ready within `ANSWER_WITHIN_MS`, otherwise with its progress. The caller then asks again with the same
   * key. The diff continues meanwhile, and ends if no client asks within `ABANDONED_MS`. A diff is returned only once: the next call computes
   * it again. Resolves with `busy` while a diff with another key runs. Rejects as `work` does.
   */
  ask(key: string, work: (report: ReportSteps) => Promise<ReplayDiff>): Promise<ReplayDiff | UnfinishedDiff | 'busy'>;
}

export const ANSWER_WITHIN_MS = 10_000;
export const ABANDONED_MS = 60_000;

interface Run {
  readonly key: string;
  readonly result: Promise<ReplayDiff>;
  steps: UnfinishedDiff;
  askedAt: number;
}

export function createDiffRuns(clock: () => number, answerWithinMs = ANSWER_WITHIN_MS): DiffRuns {
  let current: Run | undefined;

  function begin(key: string, work: (report: ReportSteps) => Promise<ReplayDiff>): Run {
    const result = work((done, total) => {
      run.steps = { steps_done: done, steps: total };
      if (clock() - run.askedAt > ABANDONED_MS) {
        forget(run);
        throw new Error('no client waits for the diff any more');
      }
    });
    const run: Run = { key, result, steps: { steps_done: 0, steps: 1 }, askedAt: clock() };
    // If `work` fails while a call of `ask` waits, the call rejects with the error. If no call waits, the error must not be an unhandled rejection.
    result.catch(() => undefined);
    return run;
  }

  function forget(run: Run): void {
    if (current === run) current = undefined;
  }

  return {
    async ask(key, work) {
      // After `ABANDONED_MS` without a call, the tables may have changed, so a new diff begins.
      if (current !== undefined && clock() - current.askedAt > ABANDONED_MS) current = undefined;
      if (current !== undefined && current.key !== key) return 'busy';
      current ??= begin(key, work);
      const run = current;
      run.askedAt = clock();
      const patience = new AbortController();
      try {
        const finished = await Promise.race([
          run.result,
          pause(answerWithinMs, undefined, { signal: patience.signal }),
        ]);
        if (finished === undefined) return run.steps;
        forget(run);
        return finished;
      } catch (error) {
        forget(run);
        throw error;
      } finally {
        patience.abort();
        run.askedAt = clock();
      }
    },
  };
}
