import { hash } from 'node:crypto';

/** A new session begins after 30 minutes without a hit of the visitor (docs/api.md, Cookieless mode). */
export const SESSION_IDLE_MS = 30 * 60_000;

const ID_HEX_CHARS = 32;

/**
 * The ID of a session whose hits have none. It depends on the visitor and on the half hour in which the session begins. Two such sessions of a
 * visitor cannot begin within the same half hour. If a hit arrives late and becomes the first one, the ID seldom changes. The view `session_moves`
 * computes the same ID.
 */
export function madeSessionId(siteId: string, visitorId: string, startMs: number): string {
  const digest = hash('sha256', `${siteId}\0${visitorId}\0${Math.floor(startMs / SESSION_IDLE_MS)}`, 'hex');
  return `s_${digest.slice(0, ID_HEX_CHARS)}`;
}
