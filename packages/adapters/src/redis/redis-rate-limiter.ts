import { BoundedCache } from '@weir/domain/bounded-cache';
import { RATE_LIMIT_WINDOW_SECONDS, type RateLimitBucket, type RateLimiter } from '@weir/ports/rate-limiter';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createMemoryRateLimiter, type MemoryRateLimiterConfig, toRateLimit } from './memory-rate-limiter.ts';
import { connectRedis, type RedisConfig } from './redis-connection.ts';
import { createCountingClient } from './redis-count-batch.ts';
import { createHiddenKeys } from './redis-hidden-key.ts';

export interface RedisRateLimiterConfig extends RedisConfig, Pick<MemoryRateLimiterConfig, 'keysMax'> {
  readonly keyPrefix?: string;
  /** The salt of the day (docs/glossary.md), which all processes share; `undefined` while this process does not have it. */
  readonly salt: () => string | undefined;
  /** Called for each call of `take` that Redis did not count. Calls without a salt are not sent to Redis, so they are not reported here. */
  readonly onFailure?: () => void;
}

/** The maximum number of keys with a reached limit that this process remembers. It refuses calls with these keys without a request to Redis. */
const BLOCKED_KEYS_MAX = 100_000;

/**
 * The size of the cache of RateLimiterRedis instances. A `BoundedCache` holds at most twice its size. Each instance has one fixed limit, and
 * sites can have different limits.
 */
const LIMITERS_MAX = 1_000;

const WITH_ADDRESSES: ReadonlySet<RateLimitBucket> = new Set(['collect', 'sign_in']);

interface Blocked {
  readonly taken: number;
  readonly until: number;
}

/**
 * Counts in Redis, for all processes together. While Redis is unavailable, counts in this process only, for at most `keysMax` keys. The keys of
 * some buckets (`WITH_ADDRESSES`) are client IPs or networks. Redis stores only their hashes, which depend on the salt of the day. So their windows
 * end at 00:00 UTC at the latest.
 */
export function openRedisRateLimiter(config: RedisRateLimiterConfig): RateLimiter {
  const { clock, salt, keyPrefix = 'weir:', onFailure } = config;
  const hidden = createHiddenKeys();
  const connection = connectRedis(config);
  const counting = createCountingClient(connection.client, RATE_LIMIT_WINDOW_SECONDS);
  const limiters = new BoundedCache<RateLimiterRedis>(LIMITERS_MAX);
  const local = createMemoryRateLimiter(config);
  let blocked = new Map<string, Blocked>();

  function limiterOf(bucket: RateLimitBucket, limit: number): RateLimiterRedis {
    const id = `${bucket} ${limit}`;
    const known = limiters.get(id);
    if (known !== undefined) return known;
    const limiter = new RateLimiterRedis({
      points: limit,
      duration: RATE_LIMIT_WINDOW_SECONDS,
      // `counting` replaces the script of the library, which also counts a call that it refuses: a refused batch of events would use up the limit.
      storeClient: counting,
      keyPrefix: `${keyPrefix}limit:${bucket}`,
      rejectIfRedisNotReady: true,
    });
    limiters.set(id, limiter);
    return limiter;
  }

  /** The key for Redis. `undefined` for a client IP or a network while there is no salt: Redis must not get them without a hash. */
  function storedKey(bucket: RateLimitBucket, key: string): string | undefined {
    // A key without a dot and a colon contains no address.
    if (!WITH_ADDRESSES.has(bucket) || !/[.:]/.test(key)) return key;
    const today = salt();
    return today === undefined ? undefined : hidden(key, today);
  }

  return {
    async take(bucket, key, limit, count = 1) {
      const id = `${bucket}:${key}`;
      const now = clock();
      const before = blocked.get(id);
      // If the clock was set back, `leftOfBlock` can be longer than a window. The block is then not used.
      const leftOfBlock = (before?.until ?? now) - now;
      if (
        before !== undefined &&
        leftOfBlock > 0 &&
        leftOfBlock <= RATE_LIMIT_WINDOW_SECONDS * 1000 &&
        before.taken >= limit
      )
        return toRateLimit(false, before.taken, leftOfBlock, limit);
      const stored = storedKey(bucket, key);
      if (stored === undefined) return local.take(bucket, key, limit, count);
      const counted = await limiterOf(bucket, limit).consume(stored, count).catch(asRefusal);
      if (counted === undefined) {
        onFailure?.();
        return local.take(bucket, key, limit, count);
      }
      const { consumedPoints, msBeforeNext: leftMs } = counted;
      const allowed = consumedPoints <= limit;
      const taken = allowed ? consumedPoints : consumedPoints - count;
      if (!allowed && taken >= limit) {
        if (blocked.size >= BLOCKED_KEYS_MAX) blocked = new Map();
        blocked.set(id, { taken, until: now + leftMs });
      }
      return toRateLimit(allowed, taken, leftMs, limit);
    },
    async close() {
      connection.close();
    },
  };
}

/** RateLimiterRedis rejects with the count if the limit is exceeded, and with an error if Redis is unavailable. Returns `undefined` for an error. */
function asRefusal(reason: unknown): RateLimiterRes | undefined {
  return reason instanceof RateLimiterRes ? reason : undefined;
}
