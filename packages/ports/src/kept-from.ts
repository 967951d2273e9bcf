import { IDEMPOTENCY_WINDOW_MS } from './state-store.ts';

/**
 * An unread record is a duplicate if an earlier record has the same idempotency key. The earlier record was appended at most this long before the
 * unread one: the window of idempotency keys (24 hours), plus an hour for the time between the receipt and the append of a record.
 */
export const BEFORE_UNREAD_MS = IDEMPOTENCY_WINDOW_MS + 3600_000;

/**
 * Returns a time. The embedded log keeps the records of a topic that were appended at or after this time. `oldestUnreadAt`: the time of append of
 * the oldest record that the consumer of the topic has not read yet; `Infinity` if there is none. The log also keeps the records of the 25 hours
 * before that record (`BEFORE_UNREAD_MS`). If the retention is shorter than 25 hours, the time of the retention counts instead.
 */
export function keptFrom(now: number, retentionMs: number, oldestUnreadAt: number): number {
  return Math.min(now - retentionMs, oldestUnreadAt - Math.min(retentionMs, BEFORE_UNREAD_MS));
}
