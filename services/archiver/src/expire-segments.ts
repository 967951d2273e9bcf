import { isDependencyError } from '@weir/domain/errors';
import { HEADER_RAW_OFFSET, REPEATS_MAX } from '@weir/domain/records/records-columns';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import { type ExpiredStart, listExpiredStarts, putExpiredStart } from '@weir/runtime/archive/expired-start';
import { readSegment } from '@weir/runtime/archive/read-segment';
import { rewrittenBefore } from '@weir/runtime/archive/rewrite-segment';
import { parseSegmentName, type SegmentRange, segmentFolder, segmentName } from '@weir/runtime/archive/segment-name';
import type { Logger } from '@weir/runtime/logger';

interface Segment extends SegmentRange {
  readonly storedAt: number;
}

/**
 * Deletes the segments that were stored before the time `before` (Unix milliseconds), and all earlier segments of their partitions. First, it
 * stores up to which offset each partition has expired: a restore from the archive can then distinguish expired records from lost records.
 * Resolves with the number of deleted segments. A repeat after a failure deletes the rest.
 */
export async function expireSegments(store: ObjectStore, before: number, logger: Logger): Promise<number> {
  // An erasure rewrites segments without the records of a person, and `storedAt` is then the time of the rewrite. The day on which such a segment was
  // first stored is in the name of another object, its marker (rewrite-segment.ts).
  const markers = new Map<string, string>();
  for await (const { marker, segment } of rewrittenBefore(store, before)) markers.set(segment, marker);
  const segments: Segment[] = [];
  for await (const { name, storedAt } of store.list('')) {
    const range = parseSegmentName(name);
    if (range !== undefined) segments.push({ ...range, storedAt });
  }
  const starts = new Map((await listExpiredStarts(store)).map((start) => [segmentFolder(start), start]));
  const last = new Map<string, Segment>();
  for (const segment of segments) {
    if (segment.storedAt < before || markers.has(segmentName(segment))) last.set(segmentFolder(segment), segment);
  }
  for (const [folder, segment] of last) {
    const known = starts.get(folder);
    if (known !== undefined && known.next > segment.to) continue;
    const own = segments.filter((one) => segmentFolder(one) === folder && one.to <= segment.to);
    const start = await startAfter(store, segment, own, known, logger);
    await putExpiredStart(store, start);
    starts.set(folder, start);
  }
  let deleted = 0;
  for (const segment of segments) {
    if (segment.to >= (starts.get(segmentFolder(segment))?.next ?? 0)) continue;
    await store.delete(segmentName(segment));
    deleted++;
  }
  for (const marker of markers.values()) await store.delete(marker);
  return deleted;
}

/**
 * Returns up to which offset (`next`) a partition has expired, and up to which raw offset (`rawNext`, an offset in `events.raw`). `own`: the expired
 * segments of the partition, in order. The last one is `segment`.
 */
async function startAfter(
  store: ObjectStore,
  segment: Segment,
  own: readonly Segment[],
  known: ExpiredStart | undefined,
  logger: Logger,
): Promise<ExpiredStart> {
  const { topic, logId, partition, to, storedAt } = segment;
  const start = { topic, logId, partition, next: to + 1, storedAt };
  if (topic === TOPIC_RAW) return { ...start, rawNext: to + 1 };
  let rawNext = known?.rawNext ?? 0;
  for (const range of own.filter((one) => one.to > to - REPEATS_MAX)) {
    try {
      for await (const batch of readSegment(store, range)) {
        for (const { headers } of batch) rawNext = Math.max(rawNext, Number(headers[HEADER_RAW_OFFSET] ?? -1) + 1);
      }
    } catch (error) {
      if (!isDependencyError(error, 'object_store_damaged')) throw error;
      // A damaged segment must expire too. Its raw offsets are unknown, so `rawNext` can be too low. expired-records.ts of services/control corrects
      // this.
      logger.warn({ err: error }, 'a damaged segment of the archive has expired');
    }
  }
  return { ...start, rawNext };
}
