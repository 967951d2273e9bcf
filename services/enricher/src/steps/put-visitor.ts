import { cookielessVisitorId, utcDay } from '@weir/domain/people/cookieless';
import { PREVIOUS_SALT_MS } from '@weir/domain/people/salt-times';
import { visitorSessionsKey } from '@weir/domain/records/state-keys';
import { createVisitorIds } from '../identity/visitor-ids.ts';
import type { Step } from '../pipeline/step.ts';
import { readSessions, sessionAt } from '../session/visitor-sessions.ts';

const DAY_MS = 24 * 3600_000;

/**
 * Computes the visitor ID of a hit that was sent without one (cookieless mode). The ID changes at midnight UTC. A visit that began before midnight
 * keeps its visitor ID until the visitor has been idle for 30 minutes, at the latest until 04:00 UTC. If a redriven hit (docs/glossary.md) has the ID
 * that was computed for it before, it keeps this ID.
 */
export function createPutVisitor(): Step {
  const visitorOf = createVisitorIds();
  return {
    name: 'put-visitor',
    needsSalt: (event) => event.cookieless && event.redriven?.visitorId === undefined,
    /** Returns the state key of the sessions that the visitor has under the visitor ID of the day before. */
    prepare(event, salts) {
      if (!event.cookieless) return undefined;
      if (event.redriven?.visitorId !== undefined) {
        event.visitorId = event.redriven.visitorId;
        return undefined;
      }
      const { siteId, receivedAt, timestamp } = event;
      const day = utcDay(receivedAt);
      const salt = salts.get(day);
      if (salt === undefined) throw new Error(`no salt for ${day}`);
      const { visitorId, sessionsKey } = visitorOf(salt, event);
      event.visitorId = visitorId;
      event.sessionsKey = sessionsKey;
      // The visitor ID of an imported event depends on two days: the day on which the event was received gives the salt, and the day of its log line
      // is hashed too.
      const isImport = event.lineDay !== '';
      if ((isImport ? timestamp : receivedAt) % DAY_MS >= PREVIOUS_SALT_MS) return undefined;
      const previousSalt = isImport ? salt : salts.get(utcDay(receivedAt - DAY_MS));
      if (previousSalt === undefined) return undefined;
      const { ip, userAgent } = event;
      const lineDay = isImport ? utcDay(timestamp - DAY_MS) : '';
      event.previousVisitorId = cookielessVisitorId(previousSalt, { siteId, ip, userAgent, lineDay });
      event.previousSessionsKey = visitorSessionsKey(siteId, event.previousVisitorId);
      return event.previousSessionsKey;
    },
    apply(event, { state }) {
      if (event.previousSessionsKey === '') return undefined;
      const kept = state.get(event.previousSessionsKey);
      if (kept === undefined || sessionAt(readSessions(kept), event.timestamp) === undefined) return undefined;
      event.visitorId = event.previousVisitorId;
      event.sessionsKey = event.previousSessionsKey;
      return undefined;
    },
  };
}
