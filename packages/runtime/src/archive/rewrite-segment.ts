import type { StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { readSegment } from './read-segment.ts';
import { createSegmentEncoder } from './segment-encoder.ts';
import { type SegmentRange, segmentName } from './segment-name.ts';

/** Returns the new record, or the same object if the record stays unchanged. */
export type ChangeRecord = (record: StoredRecord) => StoredRecord;

/**
 * The folder of the markers: one empty object for each segment (file of the archive) that was rewritten. The name of a marker contains the UTC
 * day on which the segment was first stored.
 */
const REWRITTEN_PREFIX = 'rewritten/';
const DAY_CHARS = 10;

/**
 * Changes records of a segment. If a record changes, an object with the same name and range replaces the object of the segment. Resolves with
 * the number of changed records. If another process has replaced the object meanwhile, this function reads and changes the new content, so no
 * change is lost. Before the replacement, this function stores a marker with the day on which the segment was first stored, because the object
 * store then only knows the day of the replacement. Throws `object_store_damaged` if the segment is missing or damaged.
 */
export async function rewriteSegment(
  store: ObjectStore,
  range: SegmentRange,
  storedAt: number,
  change: ChangeRecord,
): Promise<number> {
  const name = segmentName(range);
  for (;;) {
    // The version is read before the content. If another process changes the object after that, `replace` fails, and the object is read again.
    const version = await store.version(name);
    // Most segments have no record to change. A first pass only reads, because writing the segment again would cost more.
    let changes = 0;
    for await (const batch of readSegment(store, range)) {
      for (const record of batch) if (change(record) !== record) changes++;
    }
    if (changes === 0) return 0;
    const encoder = createSegmentEncoder();
    for await (const batch of readSegment(store, range)) for (const record of batch) await encoder.add(change(record));
    const content = Buffer.concat(await encoder.finish(range));
    await store.put(`${REWRITTEN_PREFIX}${dayOf(storedAt)}/${name}`, Buffer.alloc(0));
    if (version !== undefined && (await store.replace(name, version, content))) return changes;
  }
}

/** The segments that were first stored before the day of this time and were rewritten later, with the names of their markers. */
export async function* rewrittenBefore(
  store: ObjectStore,
  timeMs: number,
): AsyncIterable<{ readonly marker: string; readonly segment: string }> {
  const day = dayOf(timeMs);
  for await (const { name: marker } of store.list(REWRITTEN_PREFIX)) {
    const [stored, segment] = [
      marker.slice(REWRITTEN_PREFIX.length).slice(0, DAY_CHARS),
      marker.slice(REWRITTEN_PREFIX.length + DAY_CHARS + 1),
    ];
    if (stored >= day) return;
    yield { marker, segment };
  }
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, DAY_CHARS);
}
