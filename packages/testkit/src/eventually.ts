import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls until `probe` returns a value other than `undefined` and `false`, and resolves with it. Rejects after `withinMs` with
 * the last error that `probe` threw, or with `what`. Use it instead of sleeping.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  let last: unknown = new Error(`not within ${withinMs} ms: ${what}`);
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw last;
    await pause(20);
  }
}
