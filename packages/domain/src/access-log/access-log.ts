import { cutChars } from '../ingest/context.ts';
import { END_MS } from '../ingest/timestamp.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { type AccessLogSkip, accessLogSkip } from './access-log-skip.ts';
import { clientAddress, isHostName } from './clf-layout.ts';
import { type ClfOptions, readClfLine } from './clf-line.ts';
import { readJsonLine } from './json-line.ts';

/**
 * `combined` and `common` are the formats of Apache and nginx with these names. `vhost_combined` is Apache's format with
 * `host:port` before the client. `vhost` is the same without the port. `ovh` has the host after the client. `json` has one
 * object per line (field names: json-line.ts).
 */
export type AccessLogFormat = 'combined' | 'common' | 'vhost_combined' | 'vhost' | 'ovh' | 'json';

const CLF_FORMATS: Readonly<Record<Exclude<AccessLogFormat, 'json'>, ClfOptions>> = {
  combined: { layout: 'plain', combined: true },
  common: { layout: 'plain', combined: false },
  vhost_combined: { layout: 'vhost', combined: false },
  vhost: { layout: 'vhost', combined: false },
  ovh: { layout: 'ovh', combined: false },
};
export const ACCESS_LOG_FORMATS = [...Object.keys(CLF_FORMATS), 'json'] as readonly AccessLogFormat[];

/** A pageview, read from a line of an access log. */
export interface AccessLogHit {
  readonly timestamp: number;
  /** The client IP, or empty if the log has none. */
  readonly ip: string;
  /** Undefined if the line has no field for the user agent; empty if the client sent none. */
  readonly userAgent: string | undefined;
  /** The absolute URL. */
  readonly url: string;
  readonly referrer: string;
}

export type AccessLogOutcome =
  | { readonly kind: 'hit'; readonly hit: AccessLogHit }
  | { readonly kind: 'skip'; readonly reason: AccessLogSkip }
  | { readonly kind: 'bad'; readonly reason: string };

export interface AccessLogOptions {
  /** If undefined, a line that begins with `{` is read as JSON, and each other line as combined or common. */
  readonly format: AccessLogFormat | undefined;
  /** The domain of the site. It is the host of the URLs if the log contains no host. */
  readonly domain: string;
}

/** The maximum length of a line. Longer lines count as bad lines. */
export const ACCESS_LOG_LINE_CHARS_MAX = 65_536;
/** Longer texts of a hit are cut to these lengths, like those of a collect hit (docs/api.md, POST /api/collect). */
const HIT_URL_CHARS_MAX = 4096;
const HIT_USER_AGENT_CHARS_MAX = 1024;

/** A UTF-8 byte-order mark, which some tools write before the first line of a file. */
const BYTE_ORDER_MARK = /^\ufeff/;

export function readAccessLogLine(sent: string, options: AccessLogOptions): AccessLogOutcome {
  const line = sent.replace(BYTE_ORDER_MARK, '');
  if (line.trim() === '') return { kind: 'skip', reason: 'blank' };
  if (line.length > ACCESS_LOG_LINE_CHARS_MAX) return bad(`longer than ${ACCESS_LOG_LINE_CHARS_MAX} characters`);
  const format = options.format ?? (line.trimStart().startsWith('{') ? 'json' : undefined);
  const entry = format === 'json' ? readJsonLine(line) : readClfLine(line, CLF_FORMATS[format ?? 'common']);
  if (typeof entry === 'string') return bad(entry);
  const ip = addressOf(entry.client);
  if (ip === undefined) return bad('the client is neither an IP address nor a host name');
  const skip = accessLogSkip(entry);
  if (skip !== undefined) return { kind: 'skip', reason: skip };
  if (!(entry.timestamp >= 0 && entry.timestamp < END_MS)) return bad('the time cannot be read');
  const url = urlOf(entry, options.domain);
  if (url === undefined) return bad('the request target is neither a path nor an http(s) URL');
  return {
    kind: 'hit',
    hit: {
      timestamp: entry.timestamp,
      ip,
      userAgent: entry.userAgent === undefined ? undefined : cutChars(entry.userAgent, HIT_USER_AGENT_CHARS_MAX),
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

/** The normalised client IP. Empty for a host name and for a JSON line without a client; `undefined` for any other text. */
function addressOf(client: string): string | undefined {
  return clientAddress(client) ?? (client === '' || isHostName(client) ? '' : undefined);
}
