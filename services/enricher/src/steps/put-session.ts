import { madeSessionId, SESSION_IDLE_MS } from '@weir/domain/records/made-session';
import { visitorSessionsKey } from '@weir/domain/records/state-keys';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { ApplyContext, Step } from '../pipeline/step.ts';
import { computedStamp, NO_STAMP_JSON, stampFirst, stampNext } from '../session/visit-stamp.ts';
import {
  idWithin,
  isWithinNewest,
  newestText,
  readNewest,
  readSessions,
  replaced,
  sessionAt,
  sessionsText,
  type VisitorSession,
  visitOf,
} from '../session/visitor-sessions.ts';

/**
 * How long sessions are kept in the state. A lost state is rebuilt from the records of the last 24 hours, and then has the sessions of these hours.
 * If the enricher kept sessions for a shorter time, the rebuilt state could have more sessions than the lost state. Records that are processed
 * again after an outage could then get other session IDs.
 */
export const SESSION_TTL_MS = 24 * 3600_000;
/**
 * The maximum number of sessions that are kept for a visitor. A day has 48 half hours, and two sessions with computed IDs cannot begin in the
 * same half hour. All of these sessions of a day are kept, because the lines of an imported day can come in any order, for example from the
 * logs of several servers.
 */
export const SESSIONS_KEPT_MAX = 48;
export const MADE_ID = /^s_[0-9a-f]{32}$/;

/**
 * Finds the session of an event by the event's own time, or begins a session. Also fills in the columns of the row that describe the visit
 * (docs/decisions/0033). A server event can join a session, but never begins or prolongs one. If a late hit connects several sessions, they become
 * one session. Rows that were stored with another session ID are corrected when they are queried (docs/decisions/0012).
 */
export const putSession: Step = {
  name: 'put-session',
  /**
   * An event that has only a user_id gets no session. The event is in the partition of its user, but the hits of the visitor are in another
   * partition. So the session of the event would depend on which partition is processed first.
   */
  prepare(event) {
    if (event.visitorId === '' || event.identity !== undefined || event.type === 'unlink') return undefined;
    // The step `put-visitor` has already set the key of a visitor without an ID of its own.
    event.sessionsKey ||= visitorSessionsKey(event.siteId, event.visitorId);
    return event.sessionsKey;
  },
  apply(event, batch) {
    if (event.sessionsKey !== '') putInSession(event, batch);
    else if (event.sessionId !== '') event.stampJson = computedStamp(event);
    return undefined;
  },
};

function putInSession(event: EnrichedEvent, { state }: ApplyContext): void {
  const key = event.sessionsKey;
  const kept = state.get(key);
  const at = event.timestamp;
  const isServer = event.kind === 'event';
  if (kept === undefined && !isServer) {
    beginFirst(event, state);
    return;
  }
  const newest = kept === undefined ? undefined : readNewest(kept);
  if (newest !== undefined && isWithinNewest(newest, event.sessionId, at)) {
    event.sessionId = newest.id;
    const before = visitOf(newest);
    const { json, visit } = stampNext(event, newest, before);
    event.stampJson = json;
    const last = isServer ? newest.last : Math.max(newest.last, at);
    if (!isServer || visit !== before) state.set(key, newestText(newest, last, visit), SESSION_TTL_MS);
    return;
  }
  event.stampJson = computedStamp(event);
  // A shortcut for a hit within a known session. Most hits are such hits when an access log is imported again.
  const within = kept === undefined || isServer ? undefined : idWithin(kept, at);
  if (within !== undefined && (event.sessionId === '' ? MADE_ID.test(within) : event.sessionId === within)) {
    event.sessionId = within;
    return;
  }
  const sessions = readSessions(kept);
  if (isServer) {
    event.sessionId ||= sessionAt(sessions, at)?.id ?? '';
    if (event.sessionId === '') event.stampJson = NO_STAMP_JSON;
    return;
  }
  const joined = joinedBy(event, sessions);
  const start = Math.min(at, ...joined.map((session) => session.start));
  const last = Math.max(at, ...joined.map((session) => session.last));
  const [one] = joined;
  const id =
    one !== undefined && !MADE_ID.test(one.id)
      ? one.id
      : event.sessionId || madeSessionId(event.siteId, event.visitorId, start);
  event.sessionId = id;
  event.sessionMoved = joined.some((session) => session.id !== id);
  const first = one === undefined ? stampFirst(event) : undefined;
  if (first !== undefined) event.stampJson = first.json;
  const own = { id, start, last };
  const after = replaced(sessions, joined, own, SESSIONS_KEPT_MAX);
  state.set(key, sessionsText(after, visitAfter()), SESSION_TTL_MS);

  function visitAfter(): string | undefined {
    if (after[0] === own) return first?.visit;
    return newest !== undefined && after[0] === sessions[0] ? visitOf(newest) : undefined;
  }
}

/** Begins the first session of a visitor. The code for the other cases gives the same result, but takes longer. */
function beginFirst(event: EnrichedEvent, state: ApplyContext['state']): void {
  const at = event.timestamp;
  event.sessionId ||= madeSessionId(event.siteId, event.visitorId, at);
  const { json, visit } = stampFirst(event);
  event.stampJson = json;
  const session = { id: event.sessionId, start: at, last: at };
  state.set(event.sessionsKey, sessionsText([session], visit), SESSION_TTL_MS);
}

/**
 * The sessions that become one session with this event. For an event without a session ID, these are all sessions with computed IDs within 30
 * minutes. If there are none, it is a session whose ID a client sent.
 */
function joinedBy(event: EnrichedEvent, sessions: readonly VisitorSession[]): readonly VisitorSession[] {
  const { sessionId, timestamp: at } = event;
  if (sessionId !== '') return sessions.filter(({ id }) => id === sessionId);
  const made = sessions.filter(({ id, start, last }) => {
    return MADE_ID.test(id) && at >= start - SESSION_IDLE_MS && at <= last + SESSION_IDLE_MS;
  });
  if (made.length > 0) return made;
  const named = sessionAt(sessions, at);
  return named === undefined ? [] : [named];
}
