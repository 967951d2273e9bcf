import type { AccessLogEntry } from './access-log-entry.ts';
import { readClfTime } from './access-log-time.ts';
import { type ClfHead, type ClfLayout, clfLayoutOf, virtualHost } from './clf-layout.ts';

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/**
 * The agent alone may hold bare quotes (some servers don't escape them): it then ends at the last quote of the line. And it may be
 * cut off with its line: what is there of it still tells who it was.
 */
const LINE = new RegExp(
  `^(\\S+) (\\S+) (.{1,256}?) \\[([^\\]]{20,40})\\] ${QUOTED} (\\d{3}) (?:\\S+)(?: ${QUOTED} (?:${QUOTED}(?= |$)|"(.*)"|"([^"]*)$))?`,
);

export interface ClfOptions {
  readonly layout: ClfLayout;
  /** A line without referrer and user agent is not one of the format. */
  readonly combined: boolean;
}

/** A line in Common or Combined Log Format; what follows the known fields is ignored. A text says why it is not one. */
export function readClfLine(line: string, { layout, combined }: ClfOptions): AccessLogEntry | string {
  const match = LINE.exec(line.trimEnd());
  if (match === null) return 'not a line of an access log (combined, common or JSON)';
  const [, first = '', second = '', rest = '', time = '', request = '', status = '', referrer] = match;
  const [agent, bareAgent, cutAgent] = match.slice(8);
  if (combined && referrer === undefined) return 'no referrer and user agent: not the combined format';
  const found = clfLayoutOf({ first, second, rest });
  if (found !== layout && found !== 'plain') return LOOKS_LIKE[found];
  const host = layout === 'plain' ? '' : virtualHost(layout === 'vhost' ? first : second);
  if (host === undefined) return 'the virtual host is not a host name';
  return {
    client: layout === 'vhost' ? second : first.replace(/,$/, ''),
    timestamp: readClfTime(time),
    ...readRequest(unescapeLog(request)),
    status: Number(status),
    host,
    referrer: unescapeLog(dashIsEmpty(referrer)),
    userAgent: unescapeLog(dashIsEmpty(agent ?? bareAgent ?? cutAgent)),
  };
}

/** What stands before the time of a line; `undefined` where it is not a line of an access log. */
export function clfHeadOf(line: string): ClfHead | undefined {
  const match = LINE.exec(line.trimEnd());
  if (match === null) return undefined;
  const [, first = '', second = '', rest = ''] = match;
  return { first, second, rest };
}

const LOOKS_LIKE = {
  vhost: 'begins with a virtual host and a client: the formats vhost_combined and vhost read such lines',
  ovh: 'begins with a client and a virtual host: the format ovh reads such lines',
} as const;

/** `GET /path HTTP/1.1`. Anything else gives an empty method and target. */
export function readRequest(request: string): { readonly method: string; readonly target: string } {
  const match = /^([A-Za-z]{1,32}) (.+?)(?: HTTP\/\d(?:\.\d)?)?$/.exec(request);
  return { method: match?.[1]?.toUpperCase() ?? '', target: match?.[2] ?? '' };
}

export function dashIsEmpty(text: string | undefined): string {
  return text === undefined || text === '-' ? '' : text;
}

/** Apache writes `\"`, `\\` and `\xhh` (bytes of UTF-8), nginx `\xhh` alone. */
function unescapeLog(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(/(?:\\x[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('\\x', ''), 'hex').toString())
    .replace(/\\(["\\])/g, '$1');
}
