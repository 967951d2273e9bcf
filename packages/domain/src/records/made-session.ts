import { hash } from 'node:crypto';

/**
 * A new session begins after 30 minutes without a hit of the visitor (docs/api.md, Cookieless mode). The snippet (visitor.ts), the view
 * `session_moves` and the SQL of reports (visit-rows.ts) have this number too. The test session-idle-time.test.ts compares them.
 */
export const SESSION_IDLE_MS = 30 * 60_000;

const ID_HEX_CHARS = 32;

/**
 * The ID of a session whose hits were sent without a session ID. It depends on the visitor and on the half hour in which the session begins.
 * Two such sessions of a visitor have different IDs, because they begin at least 30 minutes apart. A late hit that becomes the first hit of
 * its session changes the ID only if this hit is in an earlier half hour. The view `session_moves` computes the same ID.
 */
export function madeSessionId(siteId: string, visitorId: string, startMs: number): string {
  const digest = hash('sha256', `${siteId}\0${visitorId}\0${Math.floor(startMs / SESSION_IDLE_MS)}`, 'hex');
  return `s_${digest.slice(0, ID_HEX_CHARS)}`;
}
