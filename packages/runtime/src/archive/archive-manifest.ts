import type { ObjectStore } from '@weir/ports/object-store';
import { listExpiredStarts } from './expired-start.ts';
import { parseSegmentName, type SegmentRange, segmentFolder } from './segment-name.ts';

export const MANIFEST_NAME = 'manifest.json';

/** The segments (files with the records of a range of offsets) that the archive contains for one partition of an event log. */
export interface ArchivedPartition {
  readonly topic: string;
  readonly logId: string;
  readonly partition: number;
  readonly segments: number;
  /** Records with a lower offset have expired in the archive. 0 if none has expired. */
  readonly expiredBefore: number;
  /** Size of all segments after compression. */
  readonly bytes: number;
  /** The archived offsets as ranges without gaps, both ends included, in ascending order. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** Selects the segments that are counted. */
export interface ArchiveFilter {
  readonly prefix?: string;
  /** Unix milliseconds. Segments that were stored earlier are left out. */
  readonly storedFromMs?: number;
}

/**
 * Counts the segments of each partition in a listing of the object store. The name of a segment contains its offsets, so the manifest
 * file can always be computed again from the listing. A partition whose records have all expired has no segments and no ranges.
 */
export async function summariseArchive(
  store: ObjectStore,
  { prefix = '', storedFromMs = 0 }: ArchiveFilter = {},
): Promise<readonly ArchivedPartition[]> {
  const found = new Map<string, ArchivedPartition & { readonly ranges: [number, number][] }>();
  for (const { topic, logId, partition, next } of await listExpiredStarts(store, prefix)) {
    const place = { topic, logId, partition };
    found.set(segmentFolder(place), { ...place, expiredBefore: next, segments: 0, bytes: 0, ranges: [] });
  }
  for await (const { name, bytes, storedAt } of store.list(prefix)) {
    const range = parseSegmentName(name);
    if (range === undefined || storedAt < storedFromMs) continue;
    const { topic, logId, partition } = range;
    const sum = found.get(segmentFolder(range)) ?? {
      ...{ topic, logId, partition, expiredBefore: 0, segments: 0, bytes: 0, ranges: [] },
    };
    extend(sum.ranges, range);
    found.set(segmentFolder(range), { ...sum, segments: sum.segments + 1, bytes: sum.bytes + bytes });
  }
  return [...found.values()].sort((a, b) => (segmentFolder(a) < segmentFolder(b) ? -1 : 1));
}

function extend(ranges: [number, number][], { from, to }: SegmentRange): void {
  const last = ranges.at(-1);
  if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
  else ranges.push([from, to]);
}
