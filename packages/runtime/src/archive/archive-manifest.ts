import type { ObjectStore } from '@weir/ports/object-store';
import { parseSegmentName, type SegmentRange } from './segment-name.ts';

export const MANIFEST_NAME = 'manifest.json';

/** The segments that the archive contains for one partition of an event log. */
export interface ArchivedPartition {
  readonly topic: string;
  readonly logId: string;
  readonly partition: number;
  readonly segments: number;
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
 * file can always be computed again from the listing.
 */
export async function summariseArchive(
  store: ObjectStore,
  { prefix = '', storedFromMs = 0 }: ArchiveFilter = {},
): Promise<readonly ArchivedPartition[]> {
  const found = new Map<string, ArchivedPartition & { readonly ranges: [number, number][] }>();
  for await (const { name, bytes, storedAt } of store.list(prefix)) {
    const range = parseSegmentName(name);
    if (range === undefined || storedAt < storedFromMs) continue;
    const key = `${range.topic}/${range.logId}/${range.partition}`;
    const { topic, logId, partition } = range;
    const sum = found.get(key) ?? { topic, logId, partition, segments: 0, bytes: 0, ranges: [] };
    extend(sum.ranges, range);
    found.set(key, { ...sum, segments: sum.segments + 1, bytes: sum.bytes + bytes });
  }
  return [...found.values()];
}

function extend(ranges: [number, number][], { from, to }: SegmentRange): void {
  const last = ranges.at(-1);
  if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
  else ranges.push([from, to]);
}
