import {
  RATE_LIMIT_WINDOW_SECONDS,
  type RateLimit,
  type RateLimitBucket,
  type RateLimiter,
} from '@weir/ports/rate-limiter';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { connectRedis, disconnectRedis, type RedisConfig } from './redis-connection.ts';

export interface RedisRateLimiterConfig extends RedisConfig {
  readonly keyPrefix?: string;
}

/** Keys that are over their limit, remembered here so that a refusal costs no round trip. */
const BLOCKED_KEYS_MAX = 100_000;

interface Blocked {
  readonly consumed: number;
  readonly until: number;
}

/** Counts in Redis, for all processes together; while Redis is away, in this process alone. */
export function openRedisRateLimiter(config: RedisRateLimiterConfig): RateLimiter {
  const { clock, keyPrefix = 'weir:' } = config;
  const client = connectRedis(config);
  const counters: Record<RateLimitBucket, RateLimiterRedis> = {
    collect: open('collect'),
    events: open('events'),
    identify: open('identify'),
  };
  let blocked = new Map<string, Blocked>();

  /** The library's own limit is never reached: limits differ by site and may change within a window, so they are compared here. */
  function open(bucket: RateLimitBucket): RateLimiterRedis {
    const window = { points: Number.MAX_SAFE_INTEGER, duration: RATE_LIMIT_WINDOW_SECONDS };
    return new RateLimiterRedis({
      ...window,
      storeClient: client,
      keyPrefix: `${keyPrefix}limit:${bucket}`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(window),
    });
  }

  return {
    async take(bucket, key, limit) {
      const id = `${bucket} ${key}`;
      const now = clock();
      const before = blocked.get(id);
      if (before !== undefined && before.until > now && before.consumed >= limit)
        return refusal(limit, before.until - now);
      const counted: RateLimiterRes = await counters[bucket].consume(key);
      const { consumedPoints, msBeforeNext } = counted;
      if (consumedPoints > limit) {
        if (blocked.size >= BLOCKED_KEYS_MAX) blocked = new Map();
        blocked.set(id, { consumed: consumedPoints, until: now + msBeforeNext });
        return refusal(limit, msBeforeNext);
      }
      return { allowed: true, limit, remaining: limit - consumedPoints, resetSeconds: wholeSeconds(msBeforeNext) };
    },
    async close() {
      disconnectRedis(client);
    },
  };
}

const wholeSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

function refusal(limit: number, waitMs: number): RateLimit {
  return { allowed: false, limit, remaining: 0, resetSeconds: wholeSeconds(waitMs) };
}
