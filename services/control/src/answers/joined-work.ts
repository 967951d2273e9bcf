import { abortable } from '@weir/runtime/abortable';

export interface Asking<Answer = unknown> {
  /** Aborts when the caller no longer needs the answer. */
  readonly signal: AbortSignal;
  /**
   * For how long later callers get the same answer, in milliseconds from the start of the work. A function computes this time from the answer; as
   * long as the work is running, later callers wait for its answer. `until done`: only while the work is running.
   */
  readonly sharedMs: number | 'until done' | ((answer: Answer) => number);
}

export interface SharedAnswer<Answer> {
  readonly answer: Answer;
  /** True if the work was begun for an earlier caller. */
  readonly isShared: boolean;
}

/**
 * A question is a text, and its answer is the result of some work. All callers who ask the same question in time (`Asking.sharedMs`) get the answer
 * of the same work. A caller who asks later starts new work, even if the earlier work is still running.
 */
export interface SharedWork<Answer> {
  /**
   * Resolves with the answer of `work`, or of the work that an earlier caller began for the same question. Rejects with the reason of the caller's
   * signal when this signal aborts. When the signals of all callers of a question have aborted, the signal that `work` received aborts. If the work
   * fails, later callers do not get its error: their call runs the work again.
   */
  ask(
    question: string,
    asking: Asking<Answer>,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<SharedAnswer<Answer>>;
}

const ANSWERS_MAX = 100;

interface Work<Answer> {
  readonly beganAt: number;
  /** 'until done' also if the time is not known before the answer. */
  sharedMs: number | 'until done';
  readonly abort: AbortController;
  readonly result: Promise<Answer>;
  callers: number;
  isDone: boolean;
}

export function createSharedWork<Answer>(clock: () => number): SharedWork<Answer> {
  const works = new Map<string, Work<Answer>>();

  function isFresh({ beganAt, sharedMs, isDone }: Work<Answer>): boolean {
    if (sharedMs === 'until done') return !isDone;
    // The age is negative if the clock was set back.
    const age = clock() - beganAt;
    return age >= 0 && age < sharedMs;
  }

  function removeOld(): void {
    let done = [...works.values()].filter(({ isDone }) => isDone).length;
    for (const [question, work] of works) {
      if (!work.isDone || (isFresh(work) && done <= ANSWERS_MAX)) continue;
      works.delete(question);
      done -= 1;
    }
  }

  function begin(
    question: string,
    sharedMs: Asking<Answer>['sharedMs'],
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Work<Answer> {
    const abort = new AbortController();
    const begun: Work<Answer> = {
      beganAt: clock(),
      sharedMs: typeof sharedMs === 'function' ? 'until done' : sharedMs,
      abort,
      result: work(abort.signal),
      callers: 0,
      isDone: false,
    };
    const end = (isKept: boolean): void => {
      begun.isDone = true;
      if (!isKept && works.get(question) === begun) works.delete(question);
    };
    begun.result.then(
      (answer) => {
        if (typeof sharedMs === 'function') begun.sharedMs = sharedMs(answer);
        end(sharedMs !== 'until done');
      },
      () => end(false),
    );
    works.set(question, begun);
    return begun;
  }

  return {
    async ask(question, { signal, sharedMs }, work) {
      removeOld();
      const known = works.get(question);
      const isShared = known !== undefined && isFresh(known) && !known.abort.signal.aborted;
      const shared = isShared ? known : begin(question, sharedMs, work);
      shared.callers += 1;
      try {
        return { answer: await abortable(shared.result, signal), isShared };
      } finally {
        shared.callers -= 1;
        if (shared.callers === 0 && !shared.isDone) shared.abort.abort();
      }
    },
  };
}

/** Like `SharedWork`, but a caller never gets the answer of work that had begun before the caller asked. */
export interface JoinedWork<Answer> {
  /**
   * If the work of the question is already running, the call waits until it ends. All waiting calls then share one next run. For signals and
   * failures, see `SharedWork`.
   */
  ask(
    question: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<SharedAnswer<Answer>>;
}

export function createJoinedWork<Answer>(clock: () => number): JoinedWork<Answer> {
  const shared = createSharedWork<Answer>(clock);
  /** The running work of each question. `next`: the question under which the waiting callers share the next run. */
  const running = new Map<string, { readonly ended: Promise<void>; readonly next: string }>();
  let runs = 0;

  return {
    ask(question, signal, work) {
      const asking = { signal, sharedMs: 'until done' } as const;
      const before = running.get(question);
      const run = (signal: AbortSignal): Promise<Answer> => {
        signal.throwIfAborted();
        const result = work(signal);
        const remove = (): void => {
          if (running.get(question) === begun) running.delete(question);
        };
        const begun = { ended: result.then(remove, remove), next: `${question} ${++runs}` };
        running.set(question, begun);
        return result;
      };
      if (before === undefined) return shared.ask(`${question} ${++runs}`, asking, async (signal) => run(signal));
      return shared.ask(before.next, asking, (signal) => before.ended.then(() => run(signal)));
    },
  };
}
