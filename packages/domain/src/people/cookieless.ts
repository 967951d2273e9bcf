import { hash } from 'node:crypto';
import { normalizeIp, visitorNetwork } from '../net/ip-address.ts';

export const COOKIELESS_PREFIX = 'c_';
const ID_HEX_CHARS = 32;

/** Whom a cookieless visitor ID stands for (docs/api.md, Cookieless mode). */
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
  return COOKIELESS_PREFIX + hash('sha256', parts, 'hex').slice(0, ID_HEX_CHARS);
}

/** The day before a UTC day. */
export function dayBefore(day: string): string {
  return utcDay(Date.parse(day) - 1);
}

const DAY_MS = 24 * 3600_000;

/** The UTC day of a time, `YYYY-MM-DD`: salts rotate at 00:00 UTC. Counted, since a Date costs a microsecond a hit. */
export function utcDay(ms: number): string {
  // Days since 0000-03-01, so that a leap day is the last of its year (Hinnant, days_from_civil, backwards).
  const days = Math.floor(ms / DAY_MS) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}
