import { DependencyError } from '@weir/domain/errors';
import { abortable } from '@weir/runtime/abortable';
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
   * Resolves with the result of `work`, which is called when a place is free. Sites take turns. The same question, asked again within
   * `sharedMs` after it was first asked, gets the same answer without more work. A caller leaves when the signal of its question aborts:
   * its promise rejects with the reason of that signal. When all callers of a question have left, the signal that `work` received
   * aborts. Rejects with `analytics_unavailable` if too many questions wait.
   */
  ask(question: Question, work: (context: RequestContext) => Promise<Answer>): Promise<Answered<Answer>>;
}

export const SHARED_MS = 1_000;
/**
 * The number of reports that run at once. The embedded engine runs at most 12 statements at once, and inserts and the SQL console need
 * some of them.
 */
const RUNNING_MAX = 4;
const WAITING_MAX = 256;

interface Shared<Answer> {
  readonly askedAt: number;
  readonly sharedMs: number;
  readonly timing: ServerTiming;
  readonly abort: AbortController;
  readonly result: Promise<Answer>;
  callers: number;
  isDone: boolean;
}

export function createReportQueue<Answer>(clock: () => number): ReportQueue<Answer> {
  const questions = new Map<string, Shared<Answer>>();
  const takeTurn = createTurns();

  function removeOld(): void {
    for (const [text, { askedAt, sharedMs, isDone }] of questions) {
      if (isDone && clock() - askedAt >= sharedMs) questions.delete(text);
    }
  }

  function begin(
    { text, siteId, sharedMs = SHARED_MS }: Question,
    work: (context: RequestContext) => Promise<Answer>,
  ): Shared<Answer> {
    const abort = new AbortController();
    const { signal } = abort;
    const timing = newTiming();
    const askedAt = clock();
    const result = takeTurn(siteId, signal, () => {
      timing.queueMs = clock() - askedAt;
      return work({ signal, timing });
    });
    const shared: Shared<Answer> = { askedAt, sharedMs, timing, abort, result, callers: 0, isDone: false };
    const end = (): void => {
      shared.isDone = true;
    };
    const fail = (): void => {
      // After a failure, the next question starts the work again.
      if (questions.get(text) === shared) questions.delete(text);
    };
    result.then(end, fail);
    questions.set(text, shared);
    return shared;
  }

  return {
    async ask(question, work) {
      removeOld();
      const known = questions.get(question.text);
      const isShared = known !== undefined && clock() - known.askedAt < known.sharedMs && !known.abort.signal.aborted;
      const shared = isShared ? known : begin(question, work);
      shared.callers += 1;
      try {
        return { answer: await abortable(shared.result, question.signal), timing: shared.timing, isShared };
      } finally {
        shared.callers -= 1;
        if (shared.callers === 0 && !shared.isDone) shared.abort.abort();
      }
    },
  };
}

type TakeTurn = <T>(siteId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Runs at most `RUNNING_MAX` tasks at once. The sites with waiting tasks take turns, so that one site cannot delay the other sites. */
function createTurns(): TakeTurn {
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  let waitingCount = 0;

  function startNext(): void {
    const [first] = waiting;
    if (first === undefined || running >= RUNNING_MAX) return;
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
