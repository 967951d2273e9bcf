import { readClfLine } from './access-log-clf.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { readJsonLine } from './access-log-json.ts';
import { type AccessLogSkip, accessLogSkip } from './access-log-skip.ts';
import { cutChars } from './context.ts';
import { normalizeIp } from './ip-address.ts';

/** `combined` and `common` are Apache's and nginx's; `json` is one object a line (field names: access-log-json.ts). */
export type AccessLogFormat = 'combined' | 'common' | 'json';
export const ACCESS_LOG_FORMATS: readonly AccessLogFormat[] = ['combined', 'common', 'json'];

/** A page view that a log tells of. */
export interface AccessLogHit {
  readonly timestamp: number;
  /** An address, or empty where the log has none. */
  readonly ip: string;
  readonly userAgent: string;
  /** Absolute. */
  readonly url: string;
  readonly referrer: string;
}

export type AccessLogOutcome =
  | { readonly kind: 'hit'; readonly hit: AccessLogHit }
  | { readonly kind: 'skip'; readonly reason: AccessLogSkip }
  | { readonly kind: 'bad'; readonly reason: string };

export interface AccessLogOptions {
  /** Undefined: each line tells by its first characters. */
  readonly format: AccessLogFormat | undefined;
  /** Host of the URLs where the log names none: the site's domain. */
  readonly domain: string;
}

/** Longer lines are bad lines. */
export const ACCESS_LOG_LINE_CHARS_MAX = 65_536;
/** Longer texts of a hit are cut, as collect cuts them (decisions.md, POST /api/collect). */
export const HIT_URL_CHARS_MAX = 4096;
export const HIT_USER_AGENT_CHARS_MAX = 1024;
/** decisions.md: from 1970-01-01 up to, not including, 2100-01-01. */
const TIMESTAMP_END_MS = Date.UTC(2100, 0, 1);

export function readAccessLogLine(line: string, options: AccessLogOptions): AccessLogOutcome {
  if (line.trim() === '') return { kind: 'skip', reason: 'blank' };
  if (line.length > ACCESS_LOG_LINE_CHARS_MAX) return bad(`longer than ${ACCESS_LOG_LINE_CHARS_MAX} characters`);
  const format = options.format ?? (line.trimStart().startsWith('{') ? 'json' : undefined);
  const entry = format === 'json' ? readJsonLine(line) : readClfLine(line, format === 'combined');
  if (typeof entry === 'string') return bad(entry);
  const skip = accessLogSkip(entry);
  if (skip !== undefined) return { kind: 'skip', reason: skip };
  if (!(entry.timestamp >= 0 && entry.timestamp < TIMESTAMP_END_MS)) return bad('time not readable');
  const url = urlOf(entry, options.domain);
  if (url === undefined) return bad('request target is neither a path nor an http(s) URL');
  return {
    kind: 'hit',
    hit: {
      timestamp: entry.timestamp,
      ip: addressOf(entry.client),
      userAgent: cutChars(entry.userAgent, HIT_USER_AGENT_CHARS_MAX),
      url: cutChars(url, HIT_URL_CHARS_MAX),
      referrer: cutChars(entry.referrer, HIT_URL_CHARS_MAX),
    },
  };
}

function bad(reason: string): AccessLogOutcome {
  return { kind: 'bad', reason };
}

function urlOf(entry: AccessLogEntry, domain: string): string | undefined {
  if (/^https?:\/\/./i.test(entry.target)) return entry.target;
  if (!entry.target.startsWith('/')) return undefined;
  return `https://${entry.host === '' ? domain : entry.host}${entry.target}`;
}

/** A host name in the client's place has no address. */
function addressOf(client: string): string {
  return normalizeIp(client.replace(/^\[|\]$/g, ''));
}
