import { erasableRow } from '@weir/domain/dump/erasable-row';
import { customerIdOf } from '@weir/domain/erasure/erase-line';
import { createErasures } from '@weir/domain/erasure/erases';
import { sentProperties } from '@weir/domain/ingest/server-event';
import type { Json, JsonObject } from '@weir/domain/json/json';
import { bodyTextOf } from '@weir/domain/records/body-text';
import type { Registry } from '@weir/ports/registry';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';

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
