import { buffer } from 'node:stream/consumers';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { offsetDigits, type SegmentRange, segmentFolder } from './segment-name.ts';

interface Place extends Pick<SegmentRange, 'topic' | 'logId' | 'partition'> {
  /** Records with a lower offset have expired. */
  readonly next: number;
}

/**
 * Describes the oldest records of a partition, which have expired: the archive's retention has deleted their segments (files of records), or is
 * about to delete them. The records from `next` on remain.
 */
export interface ExpiredStart extends Place {
  /**
   * A raw offset (docs/glossary.md). For `events.enriched`: the first outcome of each raw record below `rawNext` has expired. Later outcomes of
   * the same raw record do not count. For `events.raw`, `rawNext` is equal to `next`.
   */
  readonly rawNext: number;
  /** Unix milliseconds: when the last expired segment was stored. */
  readonly storedAt: number;
}

const PREFIX = 'expired/';
const NAME = /^expired\/([^/]+)\/([^/]+)\/(\d{4,})\/(\d{16})\.json$/;

/**
 * Stores the start of the records that remain. The name of the object contains `next`, and readers use the object with the highest `next`.
 * So a delayed process that stores an earlier start has no effect.
 */
export async function putExpiredStart(store: ObjectStore, start: ExpiredStart): Promise<void> {
  const { rawNext, storedAt } = start;
  await store.put(expiredStartName(start), Buffer.from(JSON.stringify({ rawNext, storedAt })));
  for await (const { name } of store.list(PREFIX + segmentFolder(start))) {
    if (name < expiredStartName(start)) await store.delete(name);
  }
}

/** Resolves with the start of each partition of which records have expired, ordered by topic, log and partition. */
export async function listExpiredStarts(store: ObjectStore, prefix = ''): Promise<readonly ExpiredStart[]> {
  const last = new Map<string, Place>();
  for await (const { name } of store.list(PREFIX + prefix)) {
    const [, topic = '', logId = '', partition, next] = NAME.exec(name) ?? [];
    const place = { topic, logId, partition: Number(partition), next: Number(next) };
    if (next !== undefined) last.set(segmentFolder(place), place);
  }
  const starts: ExpiredStart[] = [];
  for (const place of last.values()) {
    const found = await store.get(expiredStartName(place));
    // The object is missing if another process has just replaced it by a later start.
    if (found === undefined) return listExpiredStarts(store, prefix);
    starts.push({ ...place, ...contentOf(expiredStartName(place), await buffer(found)) });
  }
  return starts;
}

/** Returns the name of the object that stores this start. */
export function expiredStartName(place: Place): string {
  return `${PREFIX}${segmentFolder(place)}${offsetDigits(place.next)}.json`;
}

function contentOf(name: string, content: Buffer): Pick<ExpiredStart, 'rawNext' | 'storedAt'> {
  try {
    const { rawNext, storedAt } = JSON.parse(content.toString()) as Partial<ExpiredStart>;
    if (Number.isSafeInteger(rawNext) && Number.isSafeInteger(storedAt)) {
      return { rawNext: rawNext as number, storedAt: storedAt as number };
    }
  } catch {
    // The error below names the object.
  }
  throw new DependencyError(
    'object_store_damaged',
    `the archive's object ${name} must be JSON with the numbers rawNext and storedAt: replace it`,
  );
}
