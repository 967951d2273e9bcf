import { customerIdOf } from '@weir/domain/erasure/erase-line';
import { createErasures } from '@weir/domain/erasure/erases';
import type { JsonObject } from '@weir/domain/json/json';
import type { Registry } from '@weir/ports/registry';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * Ends records of erased persons and sites that were received before the erasure: those that were under way, and all of them in
 * a replay. It is decided in the first phase, so that the record does not take its idempotency key.
 */
export function createDropErased(registry: Registry): Step {
  const erasures = createErasures((siteId) => registry.tombstones(siteId));

  function isErased(event: EnrichedEvent): boolean {
    const { siteId, dumped } = event;
    const erases = erasures(siteId);
    if (erases === undefined) return false;
    // The row of a dump was received before the dump was made: an erased person does not come back with it.
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
      // put-visitor may have gone back to the visitor ID of the day before.
      const changed = event.previousVisitorId !== '' && event.visitorId === event.previousVisitorId;
      return event.erased || (changed && isErased(event)) ? { outcome: 'erased' } : undefined;
    },
  };
}
