import { IDEMPOTENCY_WINDOW_MS } from '@weir/ports/state-store';
import type { Step } from '../pipeline/step.ts';

/** This many characters of the log ID are enough to distinguish logs. A new log beside an old state store uses the same offsets again. */
const LOG_ID_CHARS = 8;

/**
 * Ends a duplicate: a record whose idempotency key belongs to another record, received less than 24 hours before or after it.
 * The times are stored in the records, so a replay finds the same duplicates.
 */
export function createDropDuplicate(logId: string): Step {
  const log = logId.slice(0, LOG_ID_CHARS);
  const nameOf = (partition: number, offset: number): string => `${log}:${partition}:${offset}`;

  return {
    name: 'drop-duplicate',
    firstSeenKey({ siteId, idempotencyKey, partition, offset, receivedAt, erased }) {
      // The key of an erased record is free: the record is as if it had never been sent.
      if (idempotencyKey === '' || erased) return undefined;
      return { siteId, key: idempotencyKey, recordId: nameOf(partition, offset), receivedAt };
    },
    apply({ idempotencyKey, partition, offset, receivedAt }, { firstSeen }) {
      if (idempotencyKey === '' || firstSeen === undefined || firstSeen.recordId === nameOf(partition, offset))
        return undefined;
      return Math.abs(receivedAt - firstSeen.receivedAt) < IDEMPOTENCY_WINDOW_MS ? { outcome: 'duplicate' } : undefined;
    },
  };
}
