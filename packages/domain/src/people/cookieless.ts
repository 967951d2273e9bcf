import { hash } from 'node:crypto';
import { normalizeIp, visitorNetwork } from '../net/ip-address.ts';

const COOKIELESS_PREFIX = 'c_';
const ID_HEX_CHARS = 32;

/** The values from which, together with a salt, the ID of a cookieless visitor is computed (docs/api.md, Cookieless mode). */
export interface CookielessVisitor {
  readonly siteId: string;
  readonly ip: string;
  readonly userAgent: string;
  /**
   * For a hit that was imported from an access log: the UTC day of the time in its line of the file. For all other hits: empty. The salt of an
   * imported hit is that of the day of its receipt. The salts of the days in the file never existed or were deleted, and must not be created.
   * Hits of many days therefore have the same salt. Because of `lineDay`, the visitor IDs still change at midnight, as without an import.
   */
  readonly lineDay: string;
}

/**
 * Returns `c_` and the first 16 bytes of SHA-256(salt, site, IP, `lineDay`, user agent), in hex. Of an IPv6 address only the /64 is used.
 */
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
/**
 * `utcDay` caches the texts of this many days, because consecutive records are of the same few days. The index of a day is its number modulo
 * this size.
 */
const RECENT_DAYS = 16;
const recentNumbers: number[] = new Array(RECENT_DAYS).fill(Number.NaN);
const recentTexts: string[] = new Array(RECENT_DAYS).fill('');

/** The UTC day of a time, `YYYY-MM-DD`. It is computed without a Date, because a Date would cost one microsecond per hit. */
export function utcDay(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  const slot = day & (RECENT_DAYS - 1);
  if (recentNumbers[slot] === day) return recentTexts[slot] as string;
  const text = dayText(day);
  recentNumbers[slot] = day;
  recentTexts[slot] = text;
  return text;
}

function dayText(daysSince1970: number): string {
  // Days since 0000-03-01, so that a leap day is the last day of its year (Howard Hinnant's algorithm civil_from_days).
  const days = daysSince1970 + 719_468;
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
