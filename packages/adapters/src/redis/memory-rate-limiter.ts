import { BoundedCache } from '@weir/domain/bounded-cache';
import { RATE_LIMIT_WINDOW_SECONDS, type RateLimit, type RateLimiter } from '@weir/ports/rate-limiter';

export interface MemoryRateLimiterConfig {
  /** Keys counted at a time; beyond it those not seen for longest start anew. An attacker with so many gains less than memory costs. */
  readonly keysMax?: number;
  readonly clock?: () => number;
}

interface Window {
  readonly endsAt: number;
  taken: number;
}

/** Counts in this process alone. Without timers: those of a library hold every key for a minute, however many there are. */
export function createMemoryRateLimiter(config: MemoryRateLimiterConfig = {}): RateLimiter {
  const { keysMax = 200_000, clock = Date.now } = config;
  const windows = new BoundedCache<Window>(Math.ceil(keysMax / 2));
  return {
    take(bucket, key, limitPerMinute, count = 1) {
      const id = `${bucket} ${key}`;
      const now = clock();
      let window = windows.get(id);
      if (window === undefined || window.endsAt <= now) {
        window = { endsAt: now + RATE_LIMIT_WINDOW_SECONDS * 1000, taken: 0 };
        windows.set(id, window);
      }
      const allowed = window.taken + count <= limitPerMinute;
      if (allowed) window.taken += count;
      return toRateLimit(allowed, window.taken, window.endsAt - now, limitPerMinute);
    },
    async close() {},
  };
}

/** `taken` may be above `limit`: limits of sites change within a window. */
export function toRateLimit(allowed: boolean, taken: number, waitMs: number, limit: number): RateLimit {
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - taken),
    resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  };
}
