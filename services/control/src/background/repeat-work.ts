import { isDependencyError, messageOf } from '@weir/domain/errors';

export interface RepeatedWork {
  /** Starts the work now, unless it is running. */
  look(): void;
  /** Stops the repetition, and resolves when the work has ended. */
  close(): Promise<void>;
}

/**
 * Starts `work` immediately, and again every `everyMs` milliseconds, but never while it is still running. `failed` gets the errors of `work`, except
 * those that the end of the process causes: all errors after `close`, and each AbortError. If the process ends while `work` waits for the start of
 * ClickHouse, `work` gets an AbortError even before `close` is called.
 */
export function repeatWork(
  everyMs: number,
  stop: AbortController,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): RepeatedWork {
  let working: Promise<void> | undefined;

  function look(): void {
    if (stop.signal.aborted || working !== undefined) return;
    working = work()
      .catch((error: unknown) => {
        if (!stop.signal.aborted && !isAbortError(error)) failed(error);
      })
      .finally(() => {
        working = undefined;
      });
  }

  const timer = setInterval(look, everyMs);
  timer.unref();
  look();
  return {
    look,
    async close() {
      stop.abort();
      clearInterval(timer);
      await working;
    },
  };
}

function isAbortError(error: unknown): boolean {
  return (error as { readonly name?: unknown } | undefined)?.name === 'AbortError';
}

const PROBLEM_CHARS_MAX = 300;

/** Returns the beginning of an error's message. A message of ClickHouse can contain the whole statement, which can have several megabytes. */
export function problemText(error: unknown): string {
  return messageOf(error).slice(0, PROBLEM_CHARS_MAX);
}

/** Returns the fields of a log line about the failure of a work that will be tried again. */
export function failureOf(error: unknown) {
  return { code: isDependencyError(error) ? error.code : undefined, problem: problemText(error) };
}
