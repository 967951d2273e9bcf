import { hash } from 'node:crypto';
import type { FinishContext } from '../enrichment.ts';
import type { Hit } from '../hit.ts';
import { prolongFirst, readSessions, sessionsText } from '../visitor-sessions.ts';

/** decisions.md, POST /api/collect: a new session after 30 minutes without a hit of that visitor. */
const SESSION_IDLE_MS = 30 * 60_000;
/**
 * Kept as long as the state is ever rebuilt: an enricher that was down for an hour must find the sessions as they were,
 * or the repeat would give other IDs.
 */
const SESSION_TTL_MS = 24 * 3600_000;
/** Enough for lines that arrive out of order, as of several servers' logs in one file. */
const SESSIONS_KEPT_MAX = 8;
const ID_HEX_CHARS = 32;

/**
 * Where a visitor's sessions stand; undefined where none can matter. A server event by user alone gets none: it lies in its
 * user's partition, so what it would find of its visitor's session would depend on which partition is ahead.
 */
export function sessionKeyOf(hit: Hit): string | undefined {
  if (hit.visitorId === '' || hit.linked || hit.identity !== undefined) return undefined;
  if (hit.kind === 'event' && hit.sessionId !== '') return undefined;
  // Asked for twice; the visitor does not change between, but for a `linked` one.
  hit.sessionKey ||= `session:${hit.siteId}\0${hit.visitorId}`;
  return hit.sessionKey;
}

/** The session by the event's own time. A server event may join one, but never starts or prolongs one. */
export function putSession(hit: Hit, { state }: FinishContext): undefined {
  const key = sessionKeyOf(hit);
  if (key === undefined) return;
  const kept = state.get(key);
  const at = hit.timestamp;
  const prolonged = kept === undefined ? undefined : prolongFirst(kept, hit.sessionId, at, SESSION_IDLE_MS);
  if (prolonged !== undefined) {
    hit.sessionId = prolonged.id;
    if (hit.kind !== 'event') state.set(key, prolonged.text, SESSION_TTL_MS);
    return;
  }
  const sessions = readSessions(kept);
  const found = sessions.find(({ id, start, last }) =>
    hit.sessionId === '' ? at <= last + SESSION_IDLE_MS && at >= start - SESSION_IDLE_MS : hit.sessionId === id,
  );
  if (hit.kind === 'event') {
    hit.sessionId = found?.id ?? '';
    return;
  }
  if (found === undefined) {
    hit.sessionId ||= sessionId(hit.siteId, hit.visitorId, at);
    sessions.unshift({ id: hit.sessionId, start: at, last: at });
    sessions.length = Math.min(sessions.length, SESSIONS_KEPT_MAX);
  } else {
    hit.sessionId = found.id;
    found.start = Math.min(found.start, at);
    found.last = Math.max(found.last, at);
  }
  state.set(key, sessionsText(sessions), SESSION_TTL_MS);
}

/** A function of the records alone, so that a replay gives the same one. */
function sessionId(siteId: string, visitorId: string, start: number): string {
  const digest = hash('sha256', `${siteId}\0${visitorId}\0${start}`, 'hex');
  return `s_${digest.slice(0, ID_HEX_CHARS)}`;
}
