import { customerIdOf } from '@weir/domain/erasure/erase-line';
import { createErasures } from '@weir/domain/erasure/erases';
import type { Registry } from '@weir/ports/registry';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * Ends records of erased persons and sites that were received before the erasure: those that were under way, and all of them in
 * a replay. It is decided in the first phase, so that the record does not take its idempotency key.
 */
export function createDropErased(registry: Registry): Step {
  const erasures = createErasures((siteId) => registry.tombstones(siteId));

  function isErased({
    siteId,
    receivedAt,
    timestamp,
    visitorId,
    userId,
    identity,
    properties,
  }: EnrichedEvent): boolean {
    const erases = erasures(siteId);
    if (erases === undefined) return false;
    const customerId = identity === undefined ? customerIdOf(properties) : '';
    return erases.record({ siteId, receivedAt, timestamp, visitorId, userId, customerId });
  }

  return {
    name: 'drop-erased',
    prepare(event) {
      event.erased = isErased(event);
      return undefined;
    },
    apply(event) {
      // put-visitor may have gone back to the visitor ID of the day before.
      const changed = event.previousVisitorId !== '' && event.visitorId === event.previousVisitorId;
      return event.erased || (changed && isErased(event)) ? { outcome: 'erased' } : undefined;
    },
  };
}
