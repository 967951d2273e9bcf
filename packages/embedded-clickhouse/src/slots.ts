import { clickhouseError } from './clickhouse-error.ts';

/** Runs at most `activeMax` jobs at once. Up to `waitingMax` more wait in order; further jobs are refused. */
export interface Slots {
  run<T>(job: () => Promise<T>): Promise<T>;
  /** Resolves when no job runs or waits. */
  idle(): Promise<void>;
}

export function createSlots(activeMax: number, waitingMax: number): Slots {
  const waiting: (() => void)[] = [];
  let idleListeners: (() => void)[] = [];
  let active = 0;

  const release = (): void => {
    const next = waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    active -= 1;
    if (active > 0) return;
    const listeners = idleListeners;
    idleListeners = [];
    for (const listener of listeners) listener();
  };

  return {
    async run(job) {
      if (active < activeMax) active += 1;
      else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
      else throw clickhouseError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous queries', 500);
      try {
        return await job();
      } finally {
        release();
      }
    },
    idle: () =>
      active === 0 ? Promise.resolve() : new Promise<void>((resolve) => idleListeners.push(() => resolve())),
  };
}
