import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 500;
const PAUSE_PER_PROBE = 2;
/** The time is long, because other test suites can run at the same time. */
const WITHIN_MS = 120_000;

/**
 * Polls until `probe` returns a value other than `undefined` and `false`, and resolves with it. Rejects after `withinMs` with
 * the last error that `probe` threw, or with `what`. Use it instead of sleeping.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  let last: unknown = new Error(`not within ${withinMs} ms: ${what}`);
  for (;;) {
    const askedAt = performance.now();
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw last;
    // A slow probe keeps an engine busy, and so delays the change for which the test waits. So the pause after a slow probe is longer.
    const probeMs = performance.now() - askedAt;
    await pause(Math.min(Math.max(PAUSE_PER_PROBE * probeMs, PAUSE_MS_MIN), PAUSE_MS_MAX));
  }
}

/** Returns a promise that the test resolves at the wanted moment, as `Promise.withResolvers` of Node 22 does. */
export function deferred<Value = void>(): {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
} {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
