import type { RateLimit, RateLimitBucket, RateLimiter } from '@weir/ports/rate-limiter';

/** The arguments of one call of `RateLimiter.take`. */
export type RateLimitTake = readonly [bucket: RateLimitBucket, key: string, limitPerMinute: number, count: number];

/**
 * The rate limiter of a process that asks another process. That process counts the requests of all processes, so that limits are exact.
 * The calls of one turn of the event loop are sent together, because one message for each call would cost more than counting. `ask` sends calls and
 * resolves with their results, in order. It never rejects.
 */
export function createCentralRateLimiter(
  ask: (takes: readonly RateLimitTake[]) => Promise<readonly RateLimit[]>,
): RateLimiter {
  let takes: RateLimitTake[] = [];
  let asked: Promise<readonly RateLimit[]> | undefined;

  /** Sends the collected calls when the requests that have arrived are read. */
  function askSoon(): Promise<readonly RateLimit[]> {
    return new Promise((resolve) => {
      setImmediate(() => {
        const together = takes;
        takes = [];
        asked = undefined;
        resolve(ask(together));
      });
    });
  }

  return {
    async take(bucket, key, limitPerMinute, count = 1) {
      const nth = takes.push([bucket, key, limitPerMinute, count]) - 1;
      asked ??= askSoon();
      return (await asked)[nth] as RateLimit;
    },
    async close() {},
  };
}

/** Makes the calls of another process, in order. */
export async function takeAll(limiter: RateLimiter, takes: readonly RateLimitTake[]): Promise<readonly RateLimit[]> {
  return Promise.all(takes.map((take) => limiter.take(...take)));
}
