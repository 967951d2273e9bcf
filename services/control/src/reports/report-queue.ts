import { availableParallelism } from 'node:os';
import { DependencyError } from '@weir/domain/errors';
import { createSharedWork } from '../answers/joined-work.ts';
import { newTiming, type RequestContext, type ServerTiming } from '../http/request-context.ts';

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
   * Resolves with the result of `work`, which is called when a place is free. Sites take turns. If the same question is asked again within
   * `sharedMs` after it was first asked, it gets the same answer without more work. When the signal of a question aborts, its promise rejects with
   * the reason of the signal. When the signals of all callers of the same question have aborted, the signal that `work` received aborts. Rejects
   * with `analytics_unavailable` if too many questions of the site, or of all sites, wait.
   */
  ask(question: Question, work: (context: RequestContext) => Promise<Answer>): Promise<Answered<Answer>>;
}

export const SHARED_MS = 1_000;
/**
 * The largest number of reports that run at once. The embedded engine runs at most 12 statements at once, and inserts and the SQL console need
 * some of them. A report runs up to three statements at once: its own, the search for long visits, and the check of the facts of its period
 * (`steadyQuery`). The last two take only some milliseconds. A report with bots that uses a dimension of visits also runs up to two searches
 * at once (bot-visits.ts), which read columns of the whole history. `stats` or `breakdown` with a comparison runs twice as many statements, so at
 * most ten. With more than 12, the others wait.
 */
export const RUNNING_MAX = 4;
const WAITING_MAX = 256;
/** The maximum number of waiting reports of one site. The rest of `WAITING_MAX` is left to the other sites. */
const WAITING_PER_SITE_MAX = 192;

/**
 * The number of reports that run at once on this machine with the embedded engine: one for each core, at least 2 and at most `RUNNING_MAX`. With
 * more reports at once, all of them would share the same cores, and the first report of a page would be answered as late as the last one.
 */
export function embeddedReportsAtOnce(): number {
  return Math.min(RUNNING_MAX, Math.max(2, availableParallelism()));
}

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

export type TakeTurn = <T>(siteId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs tasks, at most `runningMax` at once. The sites with waiting tasks take turns, so that one site cannot delay the
 * other sites. A waiting task is removed when its signal aborts. A call rejects with `analytics_unavailable` if too many tasks of the site, or of
 * all sites, wait. `siteId` is empty for tasks that belong to no site. `what`: the name of the tasks in the error message.
 */
export function createTurns(runningMax: number, what = 'reports'): TakeTurn {
  const waiting = new Map<string, Set<() => void>>();
  let running = 0;
  let waitingCount = 0;

  function startNext(): void {
    const [first] = waiting;
    if (first === undefined || running >= runningMax) return;
    const [siteId, starts] = first;
    const [start] = starts;
    if (start === undefined) return;
    remove(siteId, start);
    // A site that is deleted from the map and added again comes after all other sites.
    if (waiting.delete(siteId)) waiting.set(siteId, starts);
    running += 1;
    start();
  }

  function remove(siteId: string, start: () => void): void {
    const starts = waiting.get(siteId);
    if (!starts?.delete(start)) return;
    waitingCount -= 1;
    if (starts.size === 0) waiting.delete(siteId);
  }

  function waitForTurn(siteId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        remove(siteId, start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.set(siteId, (waiting.get(siteId) ?? new Set()).add(start));
      waitingCount += 1;
      startNext();
    });
  }

  return async (siteId, signal, work) => {
    const ofSite = waiting.get(siteId)?.size ?? 0;
    if (waitingCount >= WAITING_MAX || ofSite >= WAITING_PER_SITE_MAX) {
      const tooMany =
        ofSite >= WAITING_PER_SITE_MAX ? `${ofSite} ${what}${siteId && ' of this site'}` : `${WAITING_MAX} ${what}`;
      throw new DependencyError('analytics_unavailable', `${tooMany} are waiting: send the request again later`);
    }
    signal.throwIfAborted();
    await waitForTurn(siteId, signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      running -= 1;
      startNext();
    }
  };
}
