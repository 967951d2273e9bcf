import { RATE_LIMIT_WINDOW_SECONDS, type RateLimitBucket, type RateLimiter } from '@weir/ports/rate-limiter';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { createMemoryRateLimiter, type MemoryRateLimiterConfig, toRateLimit } from './memory-rate-limiter.ts';
import { connectRedis, disconnectRedis, type RedisConfig } from './redis-connection.ts';

export interface RedisRateLimiterConfig extends RedisConfig, Pick<MemoryRateLimiterConfig, 'keysMax'> {
  readonly keyPrefix?: string;
}

/** Keys that are over their limit, remembered here so that a refusal costs no round trip. */
const BLOCKED_KEYS_MAX = 100_000;

interface Blocked {
  readonly taken: number;
  readonly until: number;
}

/** Counts in Redis, for all processes together; while Redis is away, in this process alone, `keysMax` keys at most. */
export function openRedisRateLimiter(config: RedisRateLimiterConfig): RateLimiter {
  const { clock, keyPrefix = 'weir:' } = config;
  const client = connectRedis(config);
  const local = createMemoryRateLimiter(config);
  const counters: Record<RateLimitBucket, RateLimiterRedis> = {
    collect: open('collect'),
    events: open('events'),
    identify: open('identify'),
  };
  let blocked = new Map<string, Blocked>();

  /** The library's own limit is never reached: `toRateLimit` compares. */
  function open(bucket: RateLimitBucket): RateLimiterRedis {
    return new RateLimiterRedis({
      points: Number.MAX_SAFE_INTEGER,
      duration: RATE_LIMIT_WINDOW_SECONDS,
      storeClient: client,
      keyPrefix: `${keyPrefix}limit:${bucket}`,
      rejectIfRedisNotReady: true,
    });
  }

  return {
    async take(bucket, key, limit) {
      const id = `${bucket} ${key}`;
      const now = clock();
      const before = blocked.get(id);
      if (before !== undefined && before.until > now && before.taken >= limit)
        return toRateLimit(before.taken + 1, before.until - now, limit);
      let counted: RateLimiterRes;
      try {
        counted = await counters[bucket].consume(key);
      } catch {
        return local.take(bucket, key, limit);
      }
      const { consumedPoints: taken, msBeforeNext } = counted;
      if (taken > limit) {
        if (blocked.size >= BLOCKED_KEYS_MAX) blocked = new Map();
        blocked.set(id, { taken, until: now + msBeforeNext });
      }
      return toRateLimit(taken, msBeforeNext, limit);
    },
    async close() {
      disconnectRedis(client);
    },
  };
}
