import { IDEMPOTENCY_WINDOW_MS } from './state-store.ts';

/**
 * A record that its consumer has not read yet (the unread record) can be a duplicate of an earlier record with the same idempotency key. The
 * earlier record was appended at most this long before the unread one: the window of idempotency keys (24 hours), plus an hour for the time
 * between the receipt and the append of a record.
 */
export const BEFORE_UNREAD_MS = IDEMPOTENCY_WINDOW_MS + 3600_000;

/**
 * Returns a time. The embedded log keeps the records of a topic that were appended at or after this time: the records within the retention, all
 * unread records, and the records that show whether an unread record is a duplicate. Records of the last kind are at most 25 hours
 * (`BEFORE_UNREAD_MS`) older than the oldest unread record. If the retention is shorter than 25 hours, the limit is the retention.
 * `oldestUnreadAt`: when the oldest unread record was appended; `Infinity` if there is none.
 */
export function keptFrom(now: number, retentionMs: number, oldestUnreadAt: number): number {
  return Math.min(now - retentionMs, oldestUnreadAt - Math.min(retentionMs, BEFORE_UNREAD_MS));
}
