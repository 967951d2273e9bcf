import { availableParallelism } from 'node:os';
import { DependencyError } from '@weir/domain/errors';
import { newTiming, type RequestContext, type ServerTiming } from '../http/request-context.ts';
import { createSharedWork } from '../joined-work.ts';

/** A question that a caller asks: two questions with the same text have the same answer. */
export interface Question {
  readonly text: string;
  readonly siteId: string;
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal;
  /** For how long the same question gets the same answer, in milliseconds. The default is `SHARED_MS`. */
  readonly sharedMs?: number | undefined;
}

export interface Answered<Answer> {
  readonly answer: Answer;
  readonly timing: ServerTiming;
  /** True if the work was done for an earlier question. */
  readonly isShared: boolean;
}

/** Runs only a few reports at once, so that many open dashboards do not delay inserts. */
export interface ReportQueue<Answer> {
  /**
   * Resolves with the result of `work`, which is called when a place is free. Sites take turns. The same question, asked again within
   * `sharedMs` after it was first asked, gets the same answer without more work. A caller leaves when the signal of its question aborts:
   * its promise rejects with the reason of that signal. When all callers of a question have left, the signal that `work` received
   * aborts. Rejects with `analytics_unavailable` if too many questions wait.
   */
  ask(question: Question, work: (context: RequestContext) => Promise<Answer>): Promise<Answered<Answer>>;
}

export const SHARED_MS = 1_000;
/**
 * The largest number of reports that run at once. The embedded engine runs at most 12 statements at once, and inserts and the SQL console need
 * some of them.
 */
export const RUNNING_MAX = 4;
const WAITING_MAX = 256;

/**
 * The number of reports that run at once on this machine with the embedded engine: one for each core, and at least 2. More would share the same
 * cores, so the first reports of a page would be answered as late as the last one.
 */
export function embeddedReportsAtOnce(): number {
  return Math.min(RUNNING_MAX, Math.max(2, availableParallelism()));
}

/** `runningMax`: the number of reports that run at once. */
export function createReportQueue<Answer>(clock: () => number, runningMax = RUNNING_MAX): ReportQueue<Answer> {
  const shared = createSharedWork<Pick<Answered<Answer>, 'answer' | 'timing'>>(clock);
  const takeTurn = createTurns(runningMax);

  return {
    async ask({ text, siteId, signal, sharedMs = SHARED_MS }, work) {
      const { answer, isShared } = await shared.ask(text, { signal, sharedMs }, async (signal) => {
        const timing = newTiming();
        const askedAt = clock();
        const answer = await takeTurn(siteId, signal, () => {
          timing.queueMs = clock() - askedAt;
          return work({ signal, timing });
        });
        return { answer, timing };
      });
      return { ...answer, isShared };
    },
  };
}

type TakeTurn = <T>(siteId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Runs at most `runningMax` tasks at once. The sites with waiting tasks take turns, so that one site cannot delay the other sites. */
function createTurns(runningMax: number): TakeTurn {
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  let waitingCount = 0;

  function startNext(): void {
    const [first] = waiting;
    if (first === undefined || running >= runningMax) return;
    const [siteId, starts] = first;
    const start = starts.shift();
    // Deleting the site and adding it again puts it behind the others.
    waiting.delete(siteId);
    if (starts.length > 0) waiting.set(siteId, starts);
    waitingCount -= 1;
    running += 1;
    start?.();
  }

  return async (siteId, signal, work) => {
    if (waitingCount >= WAITING_MAX) {
      throw new DependencyError(
        'analytics_unavailable',
        `${WAITING_MAX} reports are waiting: send the request again later`,
      );
    }
    waitingCount += 1;
    const turn = new Promise<void>((resolve) => {
      waiting.set(siteId, [...(waiting.get(siteId) ?? []), resolve]);
    });
    startNext();
    await turn;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      running -= 1;
      startNext();
    }
  };
}
