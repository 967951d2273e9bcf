import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import type { LogTopic } from './shown-topics.ts';
import { type TopicRecord, topicRecord } from './topic-record.ts';

/** Bytes of values in the answer. A single larger record is still answered. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Bytes of values, and time, after which a page ends although it is not full: a filter may match nothing. */
const SCANNED_BYTES_MAX = 32 * 1024 * 1024;
const PAGE_MS_MAX = 5_000;
/** Bytes that are read ahead, of all partitions together. */
const READ_AHEAD_BYTES_MAX = 8 * 1024 * 1024;
const READ_BYTES_MIN = 32 * 1024;

export interface PageRequest {
  readonly topic: LogTopic;
  /** Per partition: the next offset to read, and where to stop. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Empty: all sites. Records that cannot be decoded have no site. */
  readonly siteId: string;
  readonly recordsMax: number;
  /** Reads up to the end and keeps the newest records; otherwise stops after the first ones. */
  readonly newest: boolean;
  readonly signal: AbortSignal;
}

export interface TopicPage {
  /** In order of time, then of partitions. */
  readonly records: readonly TopicRecord[];
  /** Per partition, the offset after the last record that was looked at. */
  readonly next: readonly number[];
  readonly scanned: number;
  /** Everything up to `to` was looked at. */
  readonly atEnd: boolean;
}

interface Source {
  readonly partition: number;
  readonly end: number;
  next: number;
  ahead: readonly StoredRecord[];
  /** The next record of `ahead`. */
  at: number;
}

/** Reads the partitions from their offsets on, and merges their records by time. Rejects with `event_log_unavailable`. */
export async function readTopicPage(
  { eventLog, clock }: { readonly eventLog: EventLog; readonly clock: () => number },
  request: PageRequest,
): Promise<TopicPage> {
  const { topic, siteId, recordsMax, newest, signal } = request;
  const sources: Source[] = request.from.map((from, partition) => {
    return { partition, next: from, end: request.to[partition] ?? 0, ahead: [], at: 0 };
  });
  const readBytes = Math.max(READ_BYTES_MIN, Math.floor(READ_AHEAD_BYTES_MAX / sources.length));
  const deadline = clock() + PAGE_MS_MAX;
  const found: TopicRecord[] = [];
  let foundBytes = 0;
  let scanned = 0;
  let scannedBytes = 0;

  const isFull = () => !newest && (found.length >= recordsMax || foundBytes >= PAGE_BYTES_MAX);
  // Each call looks at one record at least: otherwise a slow log would answer the same position forever.
  const isOver = () => scanned > 0 && (scannedBytes >= SCANNED_BYTES_MAX || clock() >= deadline);

  while (!isFull() && !isOver() && !signal.aborted) {
    for (const source of sources) {
      if (source.at === source.ahead.length && source.next < source.end) {
        await readAhead(eventLog, topic.name, source, readBytes);
      }
    }
    const source = earliest(sources);
    if (source === undefined) break;
    const stored = source.ahead[source.at++] as StoredRecord;
    source.next = stored.offset + 1;
    scanned += 1;
    scannedBytes += stored.value.byteLength;
    if (siteId !== '' && !mayBeOfSite(stored, siteId)) continue;
    const record = topicRecord(topic, source.partition, stored);
    if (siteId !== '' && record.site_id !== siteId) continue;
    found.push(record);
    foundBytes += record.bytes;
    while (newest && (found.length > recordsMax || (foundBytes > PAGE_BYTES_MAX && found.length > 1))) {
      foundBytes -= found.shift()?.bytes ?? 0;
    }
  }
  const atEnd = sources.every(({ next, end }) => next >= end);
  return { records: found, next: sources.map(({ next }) => next), scanned, atEnd };
}

async function readAhead(eventLog: EventLog, topic: string, source: Source, bytesMax: number): Promise<void> {
  // The embedded log reads without waiting, and the gateway may be in the same process: its requests come first.
  await nextTurn();
  const records = await eventLog.read(topic, source.partition, source.next, bytesMax);
  source.ahead = copyUpTo(records, source.end, bytesMax);
  source.at = 0;
  // Retention may have removed the rest.
  if (source.ahead.length === 0) source.next = source.end;
}

/**
 * Copies the values, up to a number of bytes and at least one: each is a view of a whole batch, which would stay in memory. A log of
 * 1,024 partitions would hold as many batches.
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

/** A site ID stands in both formats as it is, because it contains no character that JSON escapes. This is cheaper than decoding. */
function mayBeOfSite({ value }: StoredRecord, siteId: string): boolean {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(siteId);
}
