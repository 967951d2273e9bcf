/**
 * Rate limits, counted in windows of a minute that begin with a key's first request.
 * Embedded: memory. Distributed: Redis, so that all gateways count together, with memory as insurance.
 */
export interface RateLimiter {
  /**
   * Counts one request of `key` in `bucket`, refused ones too, and says whether it is within the limit. Never rejects: with
   * the shared counter away it counts in this process alone. Returns at once where it can. `key`: at most 512 chars.
   */
  take(bucket: RateLimitBucket, key: string, limitPerMinute: number): RateLimit | Promise<RateLimit>;
  close(): Promise<void>;
}

export type RateLimitBucket = 'collect' | 'events' | 'identify';

export interface RateLimit {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that are left in this window, from 0. */
  readonly remaining: number;
  /** Whole seconds until the window ends, from 1; when refused, the time to wait. */
  readonly resetSeconds: number;
}

export const RATE_LIMIT_WINDOW_SECONDS = 60;
