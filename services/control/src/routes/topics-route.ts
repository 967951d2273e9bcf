import { TABLE_SALTS } from '@weir/domain/records/topics';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply, unavailable } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { logCursor, readLogCursor, readTableCursor, tableCursor } from '../topics/page-cursor.ts';
import { type RecordsQuery, readRecordsQuery } from '../topics/records-query.ts';
import { readRegistryPage } from '../topics/registry-page.ts';
import { type LogTopic, TOPICS } from '../topics/shown-topics.ts';
import { type PageRequest, readTopicPage } from '../topics/topic-page.ts';
import { topicsView } from '../topics/topics-view.ts';

const POLL_MS = 250;

export async function listTopics(deps: AdminDeps): Promise<Reply> {
  const views = await deps.runTopicRead(() => topicsView(deps));
  return views === undefined ? TOO_MANY : ok(views);
}

const TOO_MANY = unavailable('too many calls read topics at the same time: try again');

/**
 * Returns records of one topic. They are read outside of any consumer group, so nothing is committed and the consumers are not
 * affected.
 */
export async function listTopicRecords(deps: AdminDeps, { params, http, context }: AdminRequest): Promise<Reply> {
  const topic = TOPICS.find(({ name }) => name === params.topic);
  if (topic === undefined) {
    return { status: 404, message: `topic not found: the topics are ${TOPICS.map(({ name }) => name).join(', ')}` };
  }
  if (topic.name === TABLE_SALTS) {
    return invalid('salts cannot be read: it contains the secret keys of client addresses and of cookieless visitors');
  }
  const query = readRecordsQuery(http.originalUrl, deps.clock());
  if ('problem' in query) return invalid(query.problem);
  if (topic.kind === 'table') return registryRecords(deps, topic.name, query.value);

  const start = await startOf(deps, topic, query.value);
  if ('problem' in start) return invalid(start.problem);
  const { signal } = context;
  const reply = deps.runTopicCall(() => logRecords(deps, topic, query.value, { ...start.value, signal }));
  return (await reply) ?? TOO_MANY;
}

/** Where a call starts to read. The end of the log is not part of this, because the end moves while the call waits. */
type Start = Pick<PageRequest, 'from' | 'newest'>;

async function startOf({ eventLog }: AdminDeps, topic: LogTopic, query: RecordsQuery): Promise<Checked<Start>> {
  const { after, sinceMs, limit } = query;
  if (after !== undefined) {
    const cursor = readLogCursor(after, topic.name, eventLog.logId, eventLog.partitionCount);
    return 'problem' in cursor ? cursor : { value: { from: cursor.value, newest: false } };
  }
  if (sinceMs !== undefined)
    return { value: { from: await eventLog.offsetsAtTime(topic.name, sinceMs), newest: false } };
  const positions = await eventLog.positions(topic.name, topic.group);
  return { value: { from: positions.map(({ first, end }) => Math.max(first, end - limit)), newest: true } };
}

async function logRecords(
  deps: AdminDeps,
  topic: LogTopic,
  { siteId, limit, waitSeconds }: RecordsQuery,
  { from, newest, signal }: Start & { readonly signal: AbortSignal },
): Promise<Reply> {
  const { eventLog, clock } = deps;
  const until = clock() + waitSeconds * 1000;
  let next = from;
  let scanned = 0;
  for (;;) {
    const to = (await eventLog.positions(topic.name, topic.group)).map(({ end }) => end);
    const request = { topic, from: next, to, siteId, recordsMax: limit, newest, signal };
    const page = await deps.runTopicRead(() => readTopicPage(deps, request));
    if (page === undefined) return TOO_MANY;
    next = page.next;
    scanned += page.scanned;
    if (page.records.length > 0 || !page.atEnd || clock() >= until || signal.aborted) {
      const cursor = logCursor(topic.name, eventLog.logId, next);
      return ok({ topic: topic.name, records: page.records, cursor, at_end: page.atEnd, scanned });
    }
    // The caller may close the connection during the pause. The pause then ends early.
    await pauseUnlessAborted(POLL_MS, signal);
  }
}

/** Returns the current rows of the registry. Rows have no offsets and no times. */
function registryRecords({ registry }: AdminDeps, topic: string, query: RecordsQuery): Reply {
  const { siteId, after, limit } = query;
  if (query.sinceMs !== undefined || query.waitSeconds > 0) {
    return invalid(`${topic} is a table of current rows: it can be listed, but since and wait do not apply`);
  }
  const cursor = after === undefined ? { value: '' } : readTableCursor(after, topic);
  if ('problem' in cursor) return invalid(cursor.problem);
  const { records, key, atEnd } = readRegistryPage(registry, { siteId, afterKey: cursor.value, recordsMax: limit });
  return ok({ topic, records, cursor: tableCursor(topic, key), at_end: atEnd, scanned: records.length });
}
