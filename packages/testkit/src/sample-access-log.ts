import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/**
 * A real access log for tests and benches, which is not part of the repository: 10,000 lines in the combined format, gzip, from
 * https://github.com/elastic/examples (Common Data Formats/apache_logs, Apache-2.0). WEIR_TEST_ACCESS_LOG names the file.
 */
export const REAL_LOG_NAME = 'apache_logs of elastic/examples';
export const GENERATED_LOG_REASON = 'WEIR_TEST_ACCESS_LOG is not set';

/** The path of the real log; `undefined` if WEIR_TEST_ACCESS_LOG is not set. */
export function realLogFile(): string | undefined {
  return process.env.WEIR_TEST_ACCESS_LOG || undefined;
}

/** The text of the real log; `undefined` if WEIR_TEST_ACCESS_LOG is not set. Throws if the file cannot be read. */
export function readRealLog(): string | undefined {
  const file = realLogFile();
  return file === undefined ? undefined : gunzipSync(readFileSync(file)).toString();
}

/** The user agents of two computers, a phone and a bot. */
export const AGENTS: readonly string[] = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
];
const PATHS = ['/', '/about', '/blog/one', '/blog/two?page=2', '/style.css', '/logo.png', '/app.js', '/favicon.ico'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const STARTS_AT_MS = Date.UTC(2026, 4, 17, 10);

export interface AccessLog {
  readonly text: string;
  /** Whether the log is the real one. Tests print this value. */
  readonly origin: 'real' | 'generated';
}

/** The real log if WEIR_TEST_ACCESS_LOG is set, otherwise 10,000 generated lines of the same format. */
export function readAccessLog(): AccessLog {
  const text = readRealLog();
  return text === undefined ? { text: generateAccessLog(10_000), origin: 'generated' } : { text, origin: 'real' };
}

/**
 * Generates lines in the combined format, always the same: half pages, half assets; every tenth line is a failure or a POST. `first`: the
 * number of lines before them, if they are a part of a longer log.
 */
export function generateAccessLog(lines: number, first = 0): string {
  const text: string[] = [];
  for (let n = first; n < first + lines; n++) {
    const path = PATHS[n % PATHS.length];
    const method = n % 20 === 11 ? 'POST' : 'GET';
    const status = n % 20 === 1 ? 404 : 200;
    const referrer = n % 3 === 0 ? 'https://www.google.com/' : '-';
    const address = `203.0.${Math.floor(n / 250) % 250}.${n % 250}`;
    const agent = AGENTS[(n * 7) % AGENTS.length];
    text.push(
      `${address} - - [${clfTime(STARTS_AT_MS + n * 100)}] "${method} ${path} HTTP/1.1" ${status} ${1000 + n} "${referrer}" "${agent}"\n`,
    );
  }
  return text.join('');
}

export interface AccessLine {
  readonly ip: string;
  readonly timeMs: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** Reads a line independently of Weir's code, so that a test can count on its own; `undefined` if it is not a line of the log. */
export function readAccessLine(line: string): AccessLine | undefined {
  const match = line.match(
    /^(\S+) \S+ \S+ \[(\d+)\/(\w+)\/(\d+):(\d+):(\d+):(\d+) ([+-]\d\d)(\d\d)\] "(\S+) (\S+)[^"]*" (\d+) /,
  );
  if (match === null) return undefined;
  const [
    ,
    ip = '',
    day,
    month = '',
    year,
    hour,
    minute,
    second,
    zoneHours,
    zoneMinutes,
    method = '',
    path = '',
    status,
  ] = match;
  const local = Date.UTC(
    Number(year),
    MONTHS.indexOf(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  const zone = Number(zoneHours) * 60 + Math.sign(Number(zoneHours) || 1) * Number(zoneMinutes);
  return { ip, timeMs: local - zone * 60_000, method, path, status: Number(status) };
}

function clfTime(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
