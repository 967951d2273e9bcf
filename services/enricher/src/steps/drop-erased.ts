import { customerIdOf } from '@weir/domain/erasure/erase-line';
import { createErasures } from '@weir/domain/erasure/erases';
import type { JsonObject } from '@weir/domain/json/json';
import type { Registry } from '@weir/ports/registry';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * Gives records of erased persons and sites the outcome `erased`, if they were received before the erasure was requested. `prepare` decides this,
 * because idempotency keys are claimed after it, and an erased record must not claim its key.
 */
export function createDropErased(registry: Registry): Step {
  const erasures = createErasures((siteId) => registry.tombstones(siteId));

  function isErased(event: EnrichedEvent): boolean {
    const { siteId, dumped } = event;
    const erases = erasures(siteId);
    if (erases === undefined) return false;
    // A dump is a file with exported rows. For its rows, the original time of receipt counts, so importing a dump does not restore an erased person.
    const { receivedAt, timestamp, visitorId, userId } = dumped ?? event;
    const isIdentify = dumped === undefined ? event.identity !== undefined : dumped.outcome === 'identify';
    const properties =
      dumped === undefined ? event.properties : (JSON.parse(String(dumped.values.properties)) as JsonObject);
    const customerId = isIdentify ? '' : customerIdOf(properties);
    return erases.record({ siteId, receivedAt, timestamp, visitorId, userId, customerId });
  }

  return {
    name: 'drop-erased',
    prepare(event) {
      event.erased = isErased(event);
      return undefined;
    },
    apply(event) {
      // The step `put-visitor` can have replaced the visitor ID by that of the day before, so the record is checked again with this ID.
      const changed = event.previousVisitorId !== '' && event.visitorId === event.previousVisitorId;
      return event.erased || (changed && isErased(event)) ? { outcome: 'erased' } : undefined;
    },
  };
}
