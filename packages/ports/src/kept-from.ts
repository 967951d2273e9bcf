import { IDEMPOTENCY_WINDOW_MS } from './state-store.ts';

/**
 * Earlier records with the same idempotency key decide whether an unread record is a duplicate. They were appended at most this long before
 * the unread record: the window of idempotency keys, plus an hour for the time between the receipt and the append of a record.
 */
export const BEFORE_UNREAD_MS = IDEMPOTENCY_WINDOW_MS + 3600_000;

/**
 * The embedded log keeps the records of a topic that were appended at or after the returned time. `oldestUnreadAt`: the time at which the
 * oldest record that the consumer of the topic has not read was appended; `Infinity` if there is none. The records of the 25 hours before this record
 * are kept too, because they decide whether it is a duplicate. A shorter retention also shortens these 25 hours.
 */
export function keptFrom(now: number, retentionMs: number, oldestUnreadAt: number): number {
  return Math.min(now - retentionMs, oldestUnreadAt - Math.min(retentionMs, BEFORE_UNREAD_MS));
}
