import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { readSegment } from '@weir/runtime/archive/read-segment';
import { parseSegmentName } from '@weir/runtime/archive/segment-name';

/** All archived records of a topic, in the order of their segments. */
export async function archivedRecords(store: ObjectStore, topic: string): Promise<readonly StoredRecord[]> {
  const found: StoredRecord[] = [];
  for await (const { name } of store.list(`${topic}/`)) {
    const range = parseSegmentName(name);
    if (range === undefined) throw new Error(`not a segment: ${name}`);
    for await (const batch of readSegment(store, range)) found.push(...batch);
  }
  return found;
}
