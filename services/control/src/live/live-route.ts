import { Readable } from 'node:stream';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, type Reply, unavailable } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { StreamReply } from '../http/send-stream.ts';
import { readLogCursor } from '../topics/page-cursor.ts';
import { type LogTopic, TOPICS } from '../topics/shown-topics.ts';
import { liveEvents } from './live-events.ts';
import { readLiveRequest } from './live-request.ts';
import { shownToViewers } from './shown-to-viewers.ts';

/** The maximum number of listeners of all sites together, in one process. Each listener asks the log four times a second for the end of the topic. */
export const LISTENERS_MAX = 32;
/** The maximum number of listeners of one site, so that one viewer cannot use up the listeners of all sites. */
export const LISTENERS_PER_SITE_MAX = 16;
const RETRY_AFTER_SECONDS = 10;
const ENRICHED = TOPICS.find((topic): topic is LogTopic => topic.name === TOPIC_ENRICHED) as LogTopic;

/**
 * Sends the records of a site as soon as they are in `events.enriched`, until the listener disconnects or must not read them any more
 * (docs/api.md, Live events).
 */
export function live(deps: AdminDeps, { site: { siteId }, http, caller, context }: SiteRequest): Reply | StreamReply {
  const { eventLog, registry, signIn, runLive, hiddenCursors } = deps;
  const request = readLiveRequest(http.originalUrl);
  if ('problem' in request) return invalid(request.problem);
  if (http.method === 'HEAD') return reply(Readable.from([]));
  // A browser that connects again sends the ID of the last event. If this ID belongs to another log, the listener begins with new records.
  const isViewer = caller.viewer !== undefined;
  const lastId = http.get('last-event-id') ?? '';
  const cursor = isViewer ? hiddenCursors.reveal(lastId) : lastId;
  const last = readLogCursor(cursor, ENRICHED.name, eventLog.logId, eventLog.partitionCount);
  const events = liveEvents(deps, ENRICHED, {
    siteId,
    isWanted: request.value,
    shown: isViewer ? shownToViewers : (record) => record,
    eventId: isViewer ? hiddenCursors.hide : (id) => id,
    from: 'value' in last ? last.value : undefined,
    isAllowed: () => registry.site(siteId) !== undefined && !('status' in signIn.callerOf(http)),
    signal: AbortSignal.any([context.signal, deps.closing]),
  });
  // The stream buffers only one text. So if the listener is slow, `liveEvents` stops reading the log.
  const stream = Readable.from(events, { highWaterMark: 1 });
  const open = runLive(siteId, () => new Promise<void>((resolve) => void stream.once('close', resolve)));
  if (open !== undefined) return reply(stream);
  stream.destroy();
  return unavailable(
    `${LISTENERS_PER_SITE_MAX} listeners of this site, or ${LISTENERS_MAX} of all sites, are connected, the most at a time`,
    RETRY_AFTER_SECONDS,
  );
}

function reply(stream: Readable): StreamReply {
  // Without this header, nginx collects the events before it passes them on.
  return { status: 200, stream, contentType: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' } };
}
