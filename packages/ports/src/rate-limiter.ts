/**
 * Rate limits, counted in windows of one minute. The window of a key begins with its first request.
 * Embedded: in memory. Distributed: in Redis, so that all gateways share one counter; in memory while Redis is unavailable.
 */
export interface RateLimiter {
  /**
   * Counts `count` requests (default 1) of `key` in `bucket` if all of them are within the limit, otherwise none of them.
   * Never rejects: while the shared counter is unavailable, it counts in this process only. Returns synchronously if it can.
   * `key` has at most 512 characters.
   */
  take(bucket: RateLimitBucket, key: string, limitPerMinute: number, count?: number): RateLimit | Promise<RateLimit>;
  close(): Promise<void>;
}

export type RateLimitBucket = 'collect' | 'events' | 'identify' | 'sign_in';

export interface RateLimit {
  readonly allowed: boolean;
  readonly limit: number;
  /** How many more requests this window allows. */
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. The next window allows up to `limit` requests. */
  readonly resetSeconds: number;
}

export const RATE_LIMIT_WINDOW_SECONDS = 60;
