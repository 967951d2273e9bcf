import type { RateLimit, RateLimitBucket, RateLimiter } from '@weir/ports/rate-limiter';

/** The arguments of one call of `RateLimiter.take`. */
export type RateLimitTake = readonly [bucket: RateLimitBucket, key: string, limitPerMinute: number, count: number];

/**
 * A rate limiter that sends its calls to another process. That process counts the requests of all processes, so that limits are exact.
 * All calls of one turn of the event loop are sent together, because one message per call would cost more than counting. `ask` must send the calls
 * and resolve with their results, in order. It must not reject.
 */
export function createCentralRateLimiter(
  ask: (takes: readonly RateLimitTake[]) => Promise<readonly RateLimit[]>,
): RateLimiter {
  let takes: RateLimitTake[] = [];
  let asked: Promise<readonly RateLimit[]> | undefined;

  /** Sends the collected calls after one turn of the event loop. */
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

/** Calls `limiter.take` for the calls that another process has sent. Resolves with the results, in order. */
export async function takeAll(limiter: RateLimiter, takes: readonly RateLimitTake[]): Promise<readonly RateLimit[]> {
  return Promise.all(takes.map((take) => limiter.take(...take)));
}
