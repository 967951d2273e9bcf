import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import type { LogTopic } from './shown-topics.ts';
import { type TopicRecord, topicRecord } from './topic-record.ts';

/** A page ends when its values have this many bytes. With `newest`, the oldest records are left out instead, but at least one record stays. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** The maximum bytes that are read for one page. If few records match the filter, a page can therefore be incomplete or empty. */
const SCANNED_BYTES_MAX = 32 * 1024 * 1024;
/** The time after which a page ends, even if it is incomplete or empty. */
const PAGE_MS_MAX = 5_000;
/** The maximum bytes that are read ahead, for all partitions together. With more than 256 partitions: `READ_BYTES_MIN` for each partition. */
const READ_AHEAD_BYTES_MAX = 8 * 1024 * 1024;
/** The size of the first read of a partition. Each further read is twice as large, up to READ_BYTES_MAX. Most pages need one read. */
const READ_BYTES_MIN = 32 * 1024;
const READ_BYTES_MAX = 256 * 1024;
/** After this many records, the page lets other work of the process run. */
const TURN_RECORDS = 256;

export interface PageRequest {
  readonly topic: LogTopic;
  /** For each partition: reading starts at the offset `from` and ends before the offset `to`. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** The site whose records are returned. If undefined, records of all sites. Records that cannot be decoded belong to no site. */
  readonly siteId: string | undefined;
  readonly recordsMax: number;
  /** If true, reads to the end and keeps the newest records. If false, stops when the page is full. */
  readonly newest: boolean;
  readonly signal: AbortSignal;
}

export interface TopicPage {
  /** Ordered by time, and then by partition. */
  readonly records: readonly TopicRecord[];
  /** For each partition, the offset at which the next page begins. */
  readonly next: readonly number[];
  readonly scanned: number;
  /** True if all records up to `to` were read. */
  readonly atEnd: boolean;
}

interface Source {
  readonly partition: number;
  readonly end: number;
  next: number;
  /** Bytes of the next read. */
  readBytes: number;
  ahead: readonly StoredRecord[];
  /** The index of the next record in `ahead`. */
  at: number;
}

/** Reads the partitions from their offsets on, and merges their records by time. Rejects with `event_log_unavailable`. */
export async function readTopicPage(
  { eventLog, clock }: { readonly eventLog: EventLog; readonly clock: () => number },
  request: PageRequest,
): Promise<TopicPage> {
  const { topic, siteId, recordsMax, newest, signal } = request;
  const sources: Source[] = request.from.map((from, partition) => {
    return { partition, next: from, end: request.to[partition] ?? 0, readBytes: READ_BYTES_MIN, ahead: [], at: 0 };
  });
  const fairBytes = Math.floor(READ_AHEAD_BYTES_MAX / sources.length);
  const readBytesMax = Math.max(READ_BYTES_MIN, Math.min(READ_BYTES_MAX, fairBytes));
  const deadline = clock() + PAGE_MS_MAX;
  const found: TopicRecord[] = [];
  let foundBytes = 0;
  let scanned = 0;
  let scannedBytes = 0;

  const isFull = () => !newest && (found.length >= recordsMax || foundBytes >= PAGE_BYTES_MAX);
  // Each page reads at least one record. Otherwise, with a slow log, every page would end with the cursor that it began with.
  const isOver = () => scanned > 0 && (scannedBytes >= SCANNED_BYTES_MAX || clock() >= deadline);

  while (!isFull() && !isOver() && !signal.aborted) {
    for (const source of sources) {
      if (source.at === source.ahead.length && source.next < source.end) {
        await readAhead(eventLog, topic.name, source);
        source.readBytes = Math.min(2 * source.readBytes, readBytesMax);
      }
    }
    const source = earliest(sources);
    if (source === undefined) break;
    const stored = source.ahead[source.at++] as StoredRecord;
    source.next = stored.offset + 1;
    scanned += 1;
    // Reading the embedded log never yields to other work. This call lets the gateway, which can be in the same process, answer requests.
    if (scanned % TURN_RECORDS === 0) await nextTurn();
    scannedBytes += stored.value.byteLength;
    if (siteId !== undefined && !mayBeOfSite(stored, siteId)) continue;
    const record = topicRecord(topic, source.partition, stored);
    if (siteId !== undefined && record.site_id !== siteId) continue;
    found.push(record);
    foundBytes += record.bytes;
    while (newest && (found.length > recordsMax || (foundBytes > PAGE_BYTES_MAX && found.length > 1))) {
      foundBytes -= found.shift()?.bytes ?? 0;
    }
  }
  const atEnd = sources.every(({ next, end }) => next >= end);
  return { records: found, next: sources.map(({ next }) => next), scanned, atEnd };
}

async function readAhead(eventLog: EventLog, topic: string, source: Source): Promise<void> {
  // A read of the embedded log blocks the process. So before each read, the gateway, which can be in the same process,
  // answers the requests that wait.
  await nextTurn();
  const records = await eventLog.read(topic, source.partition, source.next, source.readBytes);
  source.ahead = copyUpTo(records, source.end, source.readBytes);
  source.at = 0;
  // If the log returned no record, retention has removed the remaining records.
  if (source.ahead.length === 0) source.next = source.end;
}

/**
 * Copies the values of records, up to a number of bytes but at least one value. A value is a view of the memory of its whole batch.
 * Without the copy, each of up to 1,024 partitions would keep a whole batch in memory.
 */
function copyUpTo(records: readonly StoredRecord[], end: number, bytesMax: number): readonly StoredRecord[] {
  const copied: StoredRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += record.value.byteLength;
    if (record.offset >= end || (copied.length > 0 && bytes > bytesMax)) break;
    copied.push({ ...record, value: Uint8Array.from(record.value) });
  }
  return copied;
}

function earliest(sources: readonly Source[]): Source | undefined {
  let first: Source | undefined;
  let firstAt = Number.POSITIVE_INFINITY;
  for (const source of sources) {
    const record = source.ahead[source.at];
    if (record === undefined || record.appendedAt >= firstAt) continue;
    first = source;
    firstAt = record.appendedAt;
  }
  return first;
}

/**
 * Searches the encoded record for the site ID, which is cheaper than decoding. A site ID has no characters that JSON escapes,
 * so raw records and enriched records contain it unchanged.
 */
function mayBeOfSite({ value }: StoredRecord, siteId: string): boolean {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(siteId);
}
