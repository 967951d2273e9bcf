import type { EventLog, PartitionPosition } from '@weir/ports/event-log';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import type { RunInSlot } from '../http/call-slots.ts';
import { logCursor } from '../topics/page-cursor.ts';
import type { LogTopic } from '../topics/shown-topics.ts';
import { readTopicPage } from '../topics/topic-page.ts';
import type { TopicRecord } from '../topics/topic-record.ts';
import type { IsWanted } from './live-request.ts';

const POLL_MS = 250;
/** If there are no new records for this time, Weir sends an event ID, because proxies close connections that are silent for longer. */
const KEEP_ALIVE_MS = 15_000;
/** If a connection breaks, the browser connects again after this time. */
const RETRY_MS = 2_000;
const RECORDS_PER_PAGE = 100;
/** A listener that is more than this number of records behind in a partition skips the oldest of them. */
const BEHIND_RECORDS_MAX = 5_000;

export interface LiveListener {
  readonly siteId: string;
  /** Returns the record as the listener may read it, or undefined if the listener may not read it. */
  readonly shown: (record: TopicRecord) => TopicRecord | undefined;
  /** Whether the listener's filter matches. The filter gets the record as `shown` returns it, so that it cannot reveal hidden fields. */
  readonly isWanted: IsWanted;
  /** For each partition, the offset at which the listener begins. If undefined, it begins with the records that are stored from now on. */
  readonly from: readonly number[] | undefined;
  /** Returns the text that is sent as the ID of a server-sent event for this cursor (the position after the sent records). */
  readonly eventId: (cursor: string) => string;
  /** Returns false when the listener is not allowed to read the events any more. */
  readonly isAllowed: () => boolean;
  readonly signal: AbortSignal;
}

export interface LiveDeps {
  readonly eventLog: EventLog;
  readonly clock: () => number;
  readonly runTopicRead: RunInSlot;
}

/**
 * Yields the records of a site, as soon as they are in the topic, in the format of server-sent events. Ends when the signal aborts or the
 * listener is not allowed to read them any more. At most one page of records is read ahead of the listener. If the listener is too slow, it
 * misses records and gets the event `skipped`. Rejects with `event_log_unavailable`.
 */
export async function* liveEvents(deps: LiveDeps, topic: LogTopic, listener: LiveListener): AsyncGenerator<string> {
  const { eventLog, clock, runTopicRead } = deps;
  const { siteId, shown, eventId, isWanted, isAllowed, signal } = listener;
  yield `retry: ${RETRY_MS}\n\n`;
  let next = listener.from;
  let sentAt = clock();
  while (!signal.aborted && isAllowed()) {
    const positions = await eventLog.positions(topic.name, topic.group);
    const to = positions.map(({ end }) => end);
    const from = to.map((end, partition) => beginOf(positions[partition], next?.[partition] ?? end));
    const isBehind = next !== undefined && from.some((offset, partition) => offset > (next?.[partition] ?? 0));
    const request = { topic, from, to, siteId, recordsMax: RECORDS_PER_PAGE, newest: false, signal };
    const page = await runTopicRead(() => readTopicPage(deps, request));
    const found = (page?.records ?? []).flatMap((record) => shown(record) ?? []).filter(isWanted);
    next = page?.next ?? from;
    const cursor = logCursor(topic.name, eventLog.logId, next);
    const texts = [
      ...(isBehind ? ['event: skipped\ndata: {}\n\n'] : []),
      ...found.map((record) => `event: record\ndata: ${JSON.stringify(record)}\n\n`),
    ];
    if (texts.length > 0 || clock() - sentAt >= KEEP_ALIVE_MS) {
      sentAt = clock();
      // The ID comes last: if the connection breaks before the listener has the ID, the listener gets these records again.
      yield `${texts.join('')}id: ${eventId(cursor)}\n\n`;
    }
    // The listener may disconnect during the pause. The pause then ends early.
    if (page?.atEnd !== false) await pauseUnlessAborted(POLL_MS, signal);
  }
}

/**
 * Returns the offset at which to read. It differs from `next` if retention has removed the records there, if the listener is too far
 * behind, or if `next` is after the end of the partition.
 */
function beginOf(position: PartitionPosition | undefined, next: number): number {
  if (position === undefined) return next;
  return Math.min(position.end, Math.max(next, position.first, position.end - BEHIND_RECORDS_MAX));
}
