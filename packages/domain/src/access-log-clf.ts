import type { AccessLogEntry } from './access-log-entry.ts';
import { readClfTime } from './access-log-time.ts';

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/**
 * The agent alone may hold bare quotes (some servers don't escape them): it then ends at the last quote of the line. And it may be
 * cut off with its line: what is there of it still tells who it was.
 */
const LINE = new RegExp(
  `^(\\S+) \\S+ .{1,256}? \\[([^\\]]{20,40})\\] ${QUOTED} (\\d{3}) (?:\\S+)(?: ${QUOTED} (?:${QUOTED}(?= |$)|"(.*)"|"([^"]*)$))?`,
);

/** A line in Common or Combined Log Format; what follows the known fields is ignored. A text says why it is not one. */
export function readClfLine(line: string, combined: boolean): AccessLogEntry | string {
  const match = LINE.exec(line.trimEnd());
  if (match === null) return 'not a line of an access log (combined, common or JSON)';
  const [, client = '', time = '', request = '', status = '', referrer, agent, bareAgent, cutAgent] = match;
  if (combined && referrer === undefined) return 'no referrer and user agent: not the combined format';
  return {
    client,
    timestamp: readClfTime(time),
    ...readRequest(unescapeLog(request)),
    status: Number(status),
    host: '',
    referrer: unescapeLog(dashIsEmpty(referrer)),
    userAgent: unescapeLog(dashIsEmpty(agent ?? bareAgent ?? cutAgent)),
  };
}

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
