import { createHash } from 'node:crypto';
import { normalizeIp, visitorNetwork } from './ip-address.ts';

export const COOKIELESS_PREFIX = 'c_';
const ID_HEX_CHARS = 32;

/** Whom a cookieless visitor ID stands for (decisions.md, POST /api/collect, Cookieless). */
export interface CookielessVisitor {
  readonly siteId: string;
  readonly ip: string;
  readonly userAgent: string;
  /**
   * Of an import, the line's own UTC day; else empty. An import is salted with the day on which it was received: the salts of
   * the days that its lines tell of were never made, or are deleted, and making them again would break the promise that they
   * are gone. The line's day mixed in makes its visitors change at midnight like everyone's.
   */
  readonly lineDay: string;
}

/** `c_` and SHA-256(daily salt, site, IP, user agent), cut to 16 bytes, in hex. An IPv6 address counts as its /64. */
export function cookielessVisitorId(salt: string, visitor: CookielessVisitor): string {
  const network = visitor.ip.includes(':') ? visitorNetwork(normalizeIp(visitor.ip)) : visitor.ip;
  const parts = `${salt}\0${visitor.siteId}\0${network}\0${visitor.lineDay}\0${visitor.userAgent}`;
  return COOKIELESS_PREFIX + createHash('sha256').update(parts).digest('hex').slice(0, ID_HEX_CHARS);
}

const DAY_MS = 24 * 3600_000;

/** The UTC day of a time, `YYYY-MM-DD`: salts rotate at 00:00 UTC. */
export function utcDay(ms: number): string {
  return new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}
