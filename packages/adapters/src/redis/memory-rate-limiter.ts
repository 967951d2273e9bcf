import { BoundedCache } from '@weir/domain/bounded-cache';
import { RATE_LIMIT_WINDOW_SECONDS, type RateLimit, type RateLimiter } from '@weir/ports/rate-limiter';

export interface MemoryRateLimiterConfig {
  /** The maximum number of counters. When more keys arrive, the counters of the least recently used keys are dropped. */
  readonly keysMax?: number;
  readonly clock?: () => number;
}

interface Window {
  readonly endsAt: number;
  taken: number;
}

const WINDOW_MS = RATE_LIMIT_WINDOW_SECONDS * 1000;

/**
 * Counts in this process only. No timer removes a counter after its window: it stays until its key is used again or the cache drops it. The cache
 * limits memory to about `keysMax` counters.
 */
export function createMemoryRateLimiter(config: MemoryRateLimiterConfig = {}): RateLimiter {
  const { keysMax = 200_000, clock = Date.now } = config;
  const windows = new BoundedCache<Window>(Math.ceil(keysMax / 2));
  return {
    take(bucket, key, limitPerMinute, count = 1) {
      const id = `${bucket} ${key}`;
      const now = clock();
      let window = windows.get(id);
      // If the window ends later than a window that begins now, the clock was set back. The old window is then not used.
      if (window === undefined || window.endsAt <= now || window.endsAt > now + WINDOW_MS) {
        window = { endsAt: now + WINDOW_MS, taken: 0 };
        windows.set(id, window);
      }
      const allowed = window.taken + count <= limitPerMinute;
      if (allowed) window.taken += count;
      return toRateLimit(allowed, window.taken, window.endsAt - now, limitPerMinute);
    },
    async close() {},
  };
}

/** `taken` may be above `limit`, because the limit of a site can be changed within a window. */
export function toRateLimit(allowed: boolean, taken: number, waitMs: number, limit: number): RateLimit {
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - taken),
    resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  };
}
