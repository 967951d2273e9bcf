import { erasableRow } from '@weir/domain/dump/erasable-row';
import { customerIdOf } from '@weir/domain/erasure/erase-line';
import { createErasures } from '@weir/domain/erasure/erases';
import { sentProperties } from '@weir/domain/ingest/server-event';
import type { Json, JsonObject } from '@weir/domain/json/json';
import { bodyTextOf } from '@weir/domain/records/body-text';
import type { Registry } from '@weir/ports/registry';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';

/** Whether an erasure applies to the event, with the IDs that the event has now. */
export type IsErased = (event: EnrichedEvent) => boolean;

export function createIsErased(registry: Pick<Registry, 'tombstones'>): IsErased {
  const erasures = createErasures((siteId) => registry.tombstones(siteId));
  return (event) => {
    const { siteId, dumped } = event;
    const erases = erasures(siteId);
    if (erases === undefined) return false;
    if (dumped !== undefined) return erases.record(erasableRow(siteId, dumped));
    const { receivedAt, timestamp, visitorId, userId } = event;
    const propertiesIn = (body: Json) =>
      event.kind === 'collect' ? (body as JsonObject).event_properties : sentProperties(body as JsonObject);
    const customerId = customerIdOf(event.properties, () => bodyTextOf(event.raw), propertiesIn);
    return erases.record({ siteId, receivedAt, timestamp, visitorId, userId, customerId });
  };
}

/**
 * Gives records of erased persons and sites the outcome `erased`, if they were received before the erasure was requested. `prepare` decides this,
 * because idempotency keys are claimed after it, and an erased record must not claim its key.
 */
export function createDropErased(isErased: IsErased): Step {
  return {
    name: 'drop-erased',
    prepare(event) {
      event.erased = isErased(event);
      return undefined;
    },
    apply(event) {
      // The step `put-visitor` can have replaced the visitor ID by that of the day before, so the record is checked again with this ID.
      const changed = event.previousVisitorId !== '' && event.visitorId === event.previousVisitorId;
      if (!event.erased && !(changed && isErased(event))) return undefined;
      // If a person was erased after the import of a dump, the row in the tables has the original time of receipt. A replay
      // must store the same time.
      if (event.dumped !== undefined) event.receivedAt = event.dumped.receivedAt;
      return { outcome: 'erased' };
    },
  };
}
