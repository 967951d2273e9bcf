import { cookielessVisitorId, utcDay } from '@weir/domain/cookieless';
import type { FinishContext } from '../enrichment.ts';
import type { Hit } from '../hit.ts';
import { readSessions, sessionAt, visitorSessionsKey } from '../visitor-sessions.ts';

const NONE: readonly string[] = [];
const DAY_MS = 24 * 3600_000;
/** How long after midnight a visit can go on under the ID of the day before. Trying it costs a hit a tenth of all its steps. */
const AFTER_MIDNIGHT_MS = 4 * 3600_000;

/** The UTC days whose salts a hit needs. */
export function saltDaysOf(hit: Hit): readonly string[] {
  return hit.cookieless ? [utcDay(hit.receivedAt)] : NONE;
}

/** Where the sessions stand that `putVisitor` looks at; undefined where it looks at none. */
export function previousSessionsKeyOf(hit: Hit): string | undefined {
  return hit.previousVisitorId === '' ? undefined : visitorSessionsKey(hit.siteId, hit.previousVisitorId);
}

/** The visitor IDs of a cookieless hit, of its day and of the day before, as far as there are salts. */
export function nameVisitor(hit: Hit, salts: ReadonlyMap<string, string>): void {
  if (!hit.cookieless || hit.visitorId !== '') return;
  const day = utcDay(hit.receivedAt);
  const salt = salts.get(day);
  if (salt === undefined) throw new Error(`no salt for ${day}`);
  hit.visitorId = cookielessVisitorId(salt, hit);
  // An import is salted with the day on which it was received, and with the day of its line.
  const isImport = hit.lineDay !== '';
  if ((isImport ? hit.timestamp : hit.receivedAt) % DAY_MS >= AFTER_MIDNIGHT_MS) return;
  const previousSalt = isImport ? salt : salts.get(utcDay(hit.receivedAt - DAY_MS));
  if (previousSalt === undefined) return;
  const { siteId, ip, userAgent, timestamp } = hit;
  const lineDay = isImport ? utcDay(timestamp - DAY_MS) : '';
  hit.previousVisitorId = cookielessVisitorId(previousSalt, { siteId, ip, userAgent, lineDay });
}

/**
 * A visit that was going on at midnight goes on under the ID that it began with, until it has been idle for 30 minutes, or until
 * 04:00.
 */
export function putVisitor(hit: Hit, { salts, state }: FinishContext): undefined {
  nameVisitor(hit, salts);
  const key = previousSessionsKeyOf(hit);
  const kept = key === undefined ? undefined : state.get(key);
  if (kept === undefined || sessionAt(readSessions(kept), hit.timestamp) === undefined) return;
  hit.visitorId = hit.previousVisitorId;
  hit.sessionKey = '';
}
