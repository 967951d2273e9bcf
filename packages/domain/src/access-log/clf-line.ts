import type { AccessLogEntry } from './access-log-entry.ts';
import { readClfTime } from './access-log-time.ts';
import { type ClfHead, type ClfLayout, clfLayoutOf, virtualHost } from './clf-layout.ts';

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/**
 * The referrer ends at the first unescaped quote that is followed by a space and a quote, because the user agent begins there. If an earlier
 * unescaped quote is followed by a space and another character, the line has other fields, and `LINE` reads neither a referrer nor a user agent.
 */
const REFERRER = '"((?:[^"\\\\]|\\\\.|"(?! [^"]))*?)"';
/**
 * Some servers do not escape quotes in the referrer or in the user agent. If no space follows the first quote within the user agent, the user agent
 * ends at the last quote of the line. Otherwise it ends at the first one. If the line was cut off within the user agent, the part before the cut is
 * read.
 */
const LINE = new RegExp(
  `^(\\S+) (\\S+) (.{1,256}?) \\[([^\\]]{20,40})\\] ${QUOTED} (\\d{3}) (?:\\S+)(?: ${REFERRER} (?:${QUOTED}(?= |$)|"(.*)"|"([^"]*)$))?`,
);

/** The rest of a line after the size, if the line was cut off within the referrer. */
const CUT_REFERRER = /^ "(?:[^"\\]|\\.)*\\?$/;
const CUT_OFF = 'the line was cut off within the referrer';

export interface ClfOptions {
  readonly layout: ClfLayout;
  /** If true, a line without referrer and user agent is an error. */
  readonly combined: boolean;
}

/** Reads a line in Common or Combined Log Format. Ignores further fields. Returns the reason if the line does not have the format. */
export function readClfLine(line: string, { layout, combined }: ClfOptions): AccessLogEntry | string {
  const text = line.trimEnd();
  const match = LINE.exec(text);
  if (match === null) return 'not a line of an access log (combined, common or JSON)';
  const [, first = '', second = '', rest = '', time = '', request = '', status = '', referrer] = match;
  const [quotedAgent, bareAgent, cutAgent] = match.slice(8);
  const agent = quotedAgent ?? bareAgent ?? cutAgent;
  if (combined && referrer === undefined) return 'no referrer and user agent: not the combined format';
  if (referrer === undefined && CUT_REFERRER.test(text.slice(match[0].length))) return CUT_OFF;
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
    userAgent: agent === undefined ? undefined : unescapeLog(dashIsEmpty(agent)),
  };
}

/** The fields before the time of a line; `undefined` if it is not a line of an access log. */
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

/** Reads a request line, `GET /path HTTP/1.1`. Method and target are empty for any other text. */
export function readRequest(request: string): { readonly method: string; readonly target: string } {
  const match = /^([A-Za-z]{1,32}) (.+?)(?: HTTP\/\d(?:\.\d)?)?$/.exec(request);
  return { method: match?.[1]?.toUpperCase() ?? '', target: match?.[2] ?? '' };
}

export function dashIsEmpty(text: string | undefined): string {
  return text === undefined || text === '-' ? '' : text;
}

/** Matches an escaped character, or several escaped bytes, which together can be one character of UTF-8. */
const ESCAPES = /\\(["\\bnrtv])|(?:\\x[0-9A-Fa-f]{2})+/g;
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v' };

/** Removes the escapes of a log. Apache writes `\"`, `\\`, white space such as `\t`, and `\xhh` (a byte). nginx writes only `\xhh`. */
function unescapeLog(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPES, (found: string, character?: string) =>
    character === undefined
      ? Buffer.from(found.replaceAll('\\x', ''), 'hex').toString()
      : (ESCAPED[character] ?? character),
  );
}
