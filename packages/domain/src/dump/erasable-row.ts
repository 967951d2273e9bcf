import { customerIdOf } from '../erasure/erase-line.ts';
import type { ErasableRecord } from '../erasure/tombstone.ts';
import type { JsonObject } from '../json/json.ts';
import type { DumpedRow } from './dumped-row.ts';

/**
 * Returns the fields of a row of a dump that decide whether an erasure applies to it. A dump is a file with exported rows. For its rows, the original
 * time of receipt counts, so importing a dump does not restore an erased person.
 */
export function erasableRow(siteId: string, row: DumpedRow): ErasableRecord {
  const { receivedAt, timestamp, visitorId, userId, outcome, values } = row;
  const text = String(values.properties);
  const parsed = outcome === 'identify' ? undefined : (JSON.parse(text) as JsonObject);
  const customerId = customerIdOf(
    parsed,
    () => text,
    (properties) => properties,
  );
  return { siteId, receivedAt, timestamp, visitorId, userId, customerId };
}
