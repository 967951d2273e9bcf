import {
  RATE_LIMIT_WINDOW_SECONDS,
  type RateLimit,
  type RateLimitBucket,
  type RateLimiter,
} from '@weir/ports/rate-limiter';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

export interface MemoryRateLimiterConfig {
  /** Keys counted before all start anew: what an attacker with that many addresses gains is less than the memory would cost. */
  readonly keysMax?: number;
}

/** Counts in this process alone. */
export function createMemoryRateLimiter({ keysMax = 200_000 }: MemoryRateLimiterConfig = {}): RateLimiter {
  let counters = openCounters();
  let keys = 0;
  return {
    async take(bucket, key, limitPerMinute) {
      const counted = await counters[bucket].consume(key);
      if (counted.isFirstInDuration) {
        keys += 1;
        if (keys > keysMax) {
          counters = openCounters();
          keys = 0;
        }
      }
      return toRateLimit(counted, limitPerMinute);
    },
    async close() {},
  };
}

/**
 * The library's own limit is never reached: limits differ by site and may change within a window, so they are compared here.
 * A counter's timer is not waited for at the end of the process.
 */
function openCounters(): Record<RateLimitBucket, RateLimiterMemory> {
  const open = () => new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: RATE_LIMIT_WINDOW_SECONDS });
  return { collect: open(), events: open(), identify: open() };
}

function toRateLimit(counted: RateLimiterRes, limit: number): RateLimit {
  const consumed = counted.consumedPoints;
  return {
    allowed: consumed <= limit,
    limit,
    remaining: consumed < limit ? limit - consumed : 0,
    resetSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
  };
}
