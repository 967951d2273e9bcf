import { DependencyError } from '@weir/domain/errors';

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

/** Waits before try number `attempt` + 1 (100 ms, doubling to 5 s); ends early, without an error, when the signal aborts. */
export function pauseBeforeRetry(attempt: number, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.min(attempt, 10));
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, pauseMs);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** Throws when the partition was taken away: whoever has it now does the work again. */
export function assertOwned(signal: AbortSignal, partition: number): void {
  if (signal.aborted) throw new DependencyError('partition_lost', `partition ${partition} was taken away`);
}

export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof DependencyError) return { code: error.code, message: `${error.code}: ${error.message}` };
  if (error instanceof Error) return { code: 'bug', message: `${error.name}: ${error.message}` };
  return { code: 'bug', message: String(error) };
}
