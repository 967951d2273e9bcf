import { createLineEraser } from '@weir/domain/erasure/erase-line';
import { compileErasures } from '@weir/domain/erasure/erases';
import { letterTexts } from '@weir/domain/erasure/letter-texts';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { HEADER_COLUMNS_VERSION } from '@weir/domain/records/records-columns';
import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import type { ArchiveErasure, Erasure, Registry } from '@weir/ports/registry';
import { type ChangeRecord, rewriteSegment } from '@weir/runtime/archive/rewrite-segment';
import { parseSegmentName, type SegmentRange } from '@weir/runtime/archive/segment-name';
import type { TopicRetention } from '../control-deps.ts';
import { createStoredOutcomes, type StoredOutcomes } from './stored-outcomes.ts';

export interface EraseArchive {
  readonly store: ObjectStore;
  readonly analytics: Pick<Analytics, 'select' | 'streamQuery' | 'generation'>;
  readonly parts: readonly Tombstone[];
  /** The progress of an earlier attempt, from which this one continues. */
  readonly begun: ArchiveErasure;
  readonly clock: () => number;
  /** Throws when another process has taken over the erasure. Called before each segment. */
  readonly assertOwn: () => void;
  readonly report: (progress: ArchiveErasure) => Promise<void>;
}

const REPORT_EVERY_MS = 5_000;
const EMPTY = new Uint8Array(0);

/**
 * Returns the erasures that were done while Weir had no archive, oldest first. If the topics still had the erased records when the archive was set
 * up, the archive now contains them.
 */
export function endedWithoutArchive(registry: Pick<Registry, 'erasures'>): readonly Erasure[] {
  return registry.erasures().filter(({ phase, archiveEnds: ends }) => phase === 'done' && ends === undefined);
}

const WEEK_MS = 7 * 24 * 3_600_000;

/**
 * Whether the topics can still have records from before this erasure, so that an archive that is set up now can get them. The limit is more than the
 * retention: Kafka can keep records for a while after it, and the retention can have been longer before.
 */
export function canBeArchivedLater({ at }: Pick<Erasure, 'at'>, topics: TopicRetention, now: number): boolean {
  return at >= now - 2 * Math.max(topics.rawRetentionMs, topics.enrichedRetentionMs) - WEEK_MS;
}

/**
 * Returns the ends of `events.raw` and `events.enriched`, by topic and partition. Call this function after the tables were erased: both topics then
 * have all records from before the erasure.
 */
export async function archiveEnds(eventLog: EventLog): Promise<Readonly<Record<string, readonly number[]>>> {
  const ends: Record<string, readonly number[]> = {};
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) ends[topic] = await topicEnds(eventLog, topic, GROUP_ARCHIVER);
  return ends;
}

/** Returns the end of each partition of a topic. The end of an empty partition is 0. */
export async function topicEnds(
  eventLog: Pick<EventLog, 'positions'>,
  topic: string,
  group: string,
): Promise<readonly number[]> {
  const positions = await eventLog.positions(topic, group);
  return positions.map(({ first, end }) => (end > first ? end : 0));
}

/** Returns, as one text, the partitions that are not archived up to these offsets. Empty if there are none. */
export async function unarchived(
  eventLog: Pick<EventLog, 'positions'>,
  ends: Readonly<Record<string, readonly number[]>>,
): Promise<string> {
  const behind: string[] = [];
  for (const [topic, offsets] of Object.entries(ends)) {
    for (const { partition, committed = 0 } of await eventLog.positions(topic, GROUP_ARCHIVER)) {
      if (committed < (offsets[partition] ?? 0)) behind.push(`${topic} ${partition}`);
    }
  }
  return behind.join(', ');
}

/**
 * Rewrites the segments that contain records of the erased persons, in one pass over the archive. Enriched records become rows with the outcome
 * `erased`, and raw records become empty. Call it when the tables are erased and all records of these persons are archived. After a crash, the next
 * call continues after the last reported segment. Erasing a segment twice changes nothing. Rejects with `object_store_damaged` if a segment is
 * damaged.
 */
export async function eraseArchive(task: EraseArchive): Promise<ArchiveErasure> {
  const { store, parts, begun, clock, assertOwn, report } = task;
  const siteId = parts[0]?.siteId ?? '';
  const stored = await createStoredOutcomes(task.analytics);
  let progress = begun;
  let reportedAt = clock();
  for await (const { name, storedAt } of store.list('')) {
    const range = parseSegmentName(name);
    if (range === undefined || name <= progress.after) continue;
    assertOwn();
    const change = range.topic === TOPIC_ENRICHED ? eraseEnriched(parts, siteId) : await eraseRaw(parts, range, stored);
    const records = change === undefined ? 0 : await rewriteSegment(store, range, storedAt, change);
    progress = {
      ...progress,
      after: name,
      segments: progress.segments + 1,
      rewritten: progress.rewritten + (records > 0 ? 1 : 0),
      records: { ...progress.records, [range.topic]: (progress.records[range.topic] ?? 0) + records },
    };
    if (records === 0 && clock() - reportedAt < REPORT_EVERY_MS) continue;
    reportedAt = clock();
    await report(progress);
  }
  return progress;
}

function eraseEnriched(parts: readonly Tombstone[], siteId: string): ChangeRecord {
  const eraseLine = createLineEraser((id) => (id === siteId ? parts : []));
  return (record) => {
    // Searching the bytes is cheaper than parsing the line, and most segments also have records of other sites.
    if (!textOf(record.value).includes(siteId)) return record;
    const value = eraseLine(record.value, Number(record.headers[HEADER_COLUMNS_VERSION]));
    return value === record.value ? record : { ...record, value };
  };
}

/** Returns a function that empties the raw records of erased persons. Undefined if the segment does not contain raw records. */
async function eraseRaw(
  parts: readonly Tombstone[],
  range: SegmentRange,
  stored: StoredOutcomes,
): Promise<ChangeRecord | undefined> {
  if (range.topic !== TOPIC_RAW) return undefined;
  const erases = compileErasures(parts);
  const siteId = parts[0]?.siteId ?? '';
  /** Whether the raw record contains a text that is the ID of an erased person. Dead letters are searched in the same way. */
  const names = (record: StoredRecord): boolean => {
    const text = textOf(record.value).toString();
    // A tombstone (docs/glossary.md) applies only to records that were received before a certain time. The time of the append is used instead of the
    // time of receipt, because the two are nearly equal.
    return text.includes(siteId) && (erases?.letter(letterTexts(text), record.appendedAt) ?? false);
  };
  if (!stored.hasLog(range.logId)) return (record) => (names(record) ? blank(record) : record);
  const outcomes = await stored.read(range);
  return (record) => {
    const outcome = outcomes.get(record.offset);
    return outcome === 'erased' || (outcome === 'unnamed' && names(record)) ? blank(record) : record;
  };
}

const blank: ChangeRecord = (record) =>
  record.value.byteLength === 0
    ? record
    : { offset: record.offset, appendedAt: record.appendedAt, headers: {}, value: EMPTY };

const textOf = (value: Uint8Array): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);
