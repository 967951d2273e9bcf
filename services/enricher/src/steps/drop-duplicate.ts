import { IDEMPOTENCY_WINDOW_MS } from '@weir/ports/state-store';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Enrichment } from '../pipeline/enrichment.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * A record is named by its partition, its offset and this many characters of the log ID. The log ID is needed because a new log uses the same
 * offsets again, and the state store can contain names from an earlier log.
 */
const LOG_ID_CHARS = 8;
const DUPLICATE = { outcome: 'duplicate' } as const;

/** The step, and the keys that it needs claimed before it is applied. */
export interface DropDuplicate extends Step, Pick<Enrichment<EnrichedEvent>, 'firstSeenKey' | 'redriveKey'> {}

/**
 * Gives a record the outcome `duplicate` if another record with the same idempotency key came first, and the two were received less than 24 hours
 * apart. The times of receipt are stored in the records, so processing the records again gives the same result. A redriven record (a dead letter
 * that is processed again) is also a duplicate if an earlier record was appended in the same attempt to redrive it.
 */
export function createDropDuplicate(logId: string): DropDuplicate {
  const log = logId.slice(0, LOG_ID_CHARS);
  const nameOf = (partition: number, offset: number): string => `${log}:${partition}:${offset}`;
  const claimantOf = ({ partition, offset, redriven }: EnrichedEvent): string =>
    nameOf(redriven?.partition ?? partition, redriven?.offset ?? offset);

  return {
    name: 'drop-duplicate',
    firstSeenKey(event) {
      const { siteId, idempotencyKey, receivedAt, erased } = event;
      // An erased record does not claim its key, as if it had never been sent. A later record can use the key.
      if (idempotencyKey === '' || erased) return undefined;
      // The record that became a dead letter may have claimed this key already. So a redriven record claims the key in the name of that record
      // (`recordId`), and is then no duplicate of it.
      return { siteId, key: idempotencyKey, recordId: claimantOf(event), receivedAt };
    },
    redriveKey({ siteId, redriven, partition, offset, erased }) {
      if (redriven === undefined || erased) return undefined;
      // Idempotency keys contain no slash, so this key is never one of them.
      const key = `redrive/${redriven.partition}/${redriven.offset}/${redriven.attempt}`;
      return { siteId, key, recordId: nameOf(partition, offset), receivedAt: redriven.at };
    },
    apply(event, { firstSeen, firstRedrive }) {
      const { idempotencyKey, partition, offset, receivedAt } = event;
      if (firstRedrive !== undefined && firstRedrive.recordId !== nameOf(partition, offset)) return DUPLICATE;
      if (idempotencyKey === '' || firstSeen === undefined || firstSeen.recordId === claimantOf(event))
        return undefined;
      return Math.abs(receivedAt - firstSeen.receivedAt) < IDEMPOTENCY_WINDOW_MS ? DUPLICATE : undefined;
    },
  };
}
