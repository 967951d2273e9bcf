import { hash } from 'node:crypto';
import type { FinishContext } from '../enrichment.ts';
import type { Hit } from '../hit.ts';
import {
  idWithin,
  prolongFirst,
  readSessions,
  replaced,
  SESSION_IDLE_MS,
  sessionAt,
  sessionsText,
  type VisitorSession,
  visitorSessionsKey,
} from '../visitor-sessions.ts';

/**
 * Kept as long as the state is ever rebuilt: an enricher that was down for an hour must find the sessions as they were,
 * or the repeat would give other IDs.
 */
const SESSION_TTL_MS = 24 * 3600_000;
/** All that a day can hold, so that lines of a day may come in any order, as of several servers' logs in one file. */
const SESSIONS_KEPT_MAX = 48;
const MADE_ID = /^s_[0-9a-f]{32}$/;
const ID_HEX_CHARS = 32;

/**
 * Where a visitor's sessions stand; undefined where none can matter. A server event by user alone gets none: it lies in its
 * user's partition, so what it would find of its visitor's session would depend on which partition is ahead.
 */
export function sessionKeyOf(hit: Hit): string | undefined {
  if (hit.visitorId === '' || hit.linked || hit.identity !== undefined || hit.type === 'unlink') return undefined;
  if (hit.kind === 'event' && hit.sessionId !== '') return undefined;
  // Asked for twice; the visitor does not change between, but for a `linked` one and at midnight.
  hit.sessionKey ||= visitorSessionsKey(hit.siteId, hit.visitorId);
  return hit.sessionKey;
}

/**
 * The session by the event's own time. A server event may join one, but never starts or prolongs one. Sessions that a late hit
 * connects become one; the rows that bear another ID are put right when they are queried (0012).
 */
export function putSession(hit: Hit, { state }: FinishContext): undefined {
  const key = sessionKeyOf(hit);
  if (key === undefined) return;
  const kept = state.get(key);
  const at = hit.timestamp;
  const prolonged = kept === undefined ? undefined : prolongFirst(kept, hit.sessionId, at);
  if (prolonged !== undefined) {
    hit.sessionId = prolonged.id;
    if (hit.kind !== 'event') state.set(key, prolonged.text, SESSION_TTL_MS);
    return;
  }
  // Of a log that is read again, nearly all.
  const within = kept === undefined || hit.kind === 'event' ? undefined : idWithin(kept, at);
  if (within !== undefined && (hit.sessionId === '' ? MADE_ID.test(within) : hit.sessionId === within)) {
    hit.sessionId = within;
    return;
  }
  const sessions = readSessions(kept);
  if (hit.kind === 'event') {
    hit.sessionId = sessionAt(sessions, at)?.id ?? '';
    return;
  }
  const joined = joinedBy(hit, sessions);
  const start = Math.min(at, ...joined.map((session) => session.start));
  const last = Math.max(at, ...joined.map((session) => session.last));
  const [one] = joined;
  const id = one !== undefined && !MADE_ID.test(one.id) ? one.id : hit.sessionId || madeId(hit, start);
  hit.sessionId = id;
  hit.sessionMoved = joined.some((session) => session.id !== id);
  state.set(key, sessionsText(replaced(sessions, joined, { id, start, last }, SESSIONS_KEPT_MAX)), SESSION_TTL_MS);
}

/** The sessions that are one with this hit. Without an ID of its own: all made ones that it touches, else one that the caller named. */
function joinedBy(hit: Hit, sessions: readonly VisitorSession[]): readonly VisitorSession[] {
  const { sessionId, timestamp: at } = hit;
  if (sessionId !== '') return sessions.filter(({ id }) => id === sessionId);
  const made = sessions.filter(({ id, start, last }) => {
    return MADE_ID.test(id) && at >= start - SESSION_IDLE_MS && at <= last + SESSION_IDLE_MS;
  });
  if (made.length > 0) return made;
  const named = sessionAt(sessions, at);
  return named === undefined ? [] : [named];
}

/**
 * A function of the visitor and the half hour in which the session starts: no two sessions can start within one, and a first hit
 * that comes a little late seldom changes it. `session_moves` in schemas/clickhouse makes the same.
 */
function madeId({ siteId, visitorId }: Hit, start: number): string {
  const digest = hash('sha256', `${siteId}\0${visitorId}\0${Math.floor(start / SESSION_IDLE_MS)}`, 'hex');
  return `s_${digest.slice(0, ID_HEX_CHARS)}`;
}
