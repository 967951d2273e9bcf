import { closeSync, openSync, writeSync } from 'node:fs';
import { seededRandom } from '@weir/testkit/load';

/**
 * Page views of cookieless visitors as lines of an access log, and two orders of the same lines. The same seed gives the same page views.
 */
export interface LateTraffic {
  readonly rows: number;
  /** The page views and the visits of people. The other rows are from bots. */
  readonly pageviews: number;
  readonly visits: number;
  /** The number of rows that `writeLate` delays. */
  readonly late: number;
  /** The first millisecond after the last day, in Unix milliseconds. */
  readonly endMs: number;
  /** Writes the lines in the order of their times. */
  writeOrdered(file: string): void;
  /** Writes the lines in the order of their arrival. */
  writeLate(file: string): void;
}

export interface LateTrafficTask {
  readonly rows: number;
  readonly seed: number;
  /** The end of the last day: midnight UTC, in Unix milliseconds. */
  readonly endMs: number;
}

export const TRAFFIC_DAYS = 30;
export const LATE_SHARE = 0.05;
export const LATE_HOURS_MAX = 23;
export const PAGES_MAX = 170;
const DAY_SECONDS = 86_400;
const IDLE_SECONDS = 1_800;
/**
 * The last second of a day with page views. The last half hour has none, so that no visit continues over midnight UTC: such a cookieless visit can
 * become two visits if its page views arrive in another order (docs/decisions/0012).
 */
const LAST_SECOND = DAY_SECONDS - IDLE_SECONDS - 1;
const PATHS = 5_000;
const CAMPAIGNS = 50;
const ROWS_PER_VISITOR = 60;
const AGAIN_SHARE = 0.35;
const ONE_PAGE_SHARE = 0.5;
const LONG_PAUSE_SHARE = 0.07;
const BOT_OF = 33;
const LINES_PER_WRITE = 10_000;

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36 Edg/129.0.0.0',
  'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
];
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
/** The referrer of the first page view of a visit, and the query of its URL. */
const LINKS: readonly (readonly [referrer: string, query: string])[] = [
  ['-', ''],
  ['https://www.google.com/', ''],
  ['https://www.bing.com/', ''],
  ['https://www.reddit.com/', ''],
  ['https://news.example.org/', ''],
  ['-', '?utm_source=newsletter&utm_medium=email&utm_campaign='],
  ['https://www.google.com/', '?utm_source=google&utm_medium=cpc&utm_term=lamp&utm_content=b&utm_campaign='],
];
/** First octets of IP addresses in many countries. */
const NETWORKS = [
  ...[2, 5, 8, 12, 17, 24, 31, 37, 41, 46, 49, 58, 61, 66, 71, 77, 80, 82, 85, 88, 91, 93, 95, 103, 109, 115, 121, 133],
  ...[139, 144, 151, 158, 163, 177, 181, 186, 189, 190, 194, 200, 201, 210, 217, 218],
];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Generates the page views. Visitors return: several times on the same day, and on other days. */
export function createLateTraffic({ rows, seed, endMs }: LateTrafficTask): LateTraffic {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const visitors = Math.ceil(rows / ROWS_PER_VISITOR);
  const startSeconds = endMs / 1000 - TRAFFIC_DAYS * DAY_SECONDS;
  const at = new Uint32Array(rows);
  const who = new Uint32Array(rows);
  const page = new Uint32Array(rows);
  /** The previous page of the same visit. For the first page of a visit: `PATHS` plus an index of `LINKS`. */
  const before = new Uint32Array(rows);
  let count = 0;
  let pageviews = 0;
  let visits = 0;

  /** Adds the visits of a visitor on one day. Each visit begins more than 30 minutes after the end of the previous visit. */
  function addDay(visitor: number, dayStart: number): void {
    let second = below(LAST_SECOND);
    do {
      const pages = random() < ONE_PAGE_SHARE ? 1 : Math.min(PAGES_MAX, Math.floor(1 + (1 - random()) ** -0.75));
      let previous = PATHS + Math.floor(random() ** 2 * LINKS.length);
      for (let nth = 0; nth < pages && second <= LAST_SECOND && count < rows; nth++) {
        at[count] = dayStart + second;
        who[count] = visitor;
        page[count] = Math.floor(random() ** 3 * PATHS);
        before[count] = previous;
        previous = page[count] ?? 0;
        count++;
        if (!isBot(visitor)) {
          pageviews++;
          if (nth === 0) visits++;
        }
        second += random() < LONG_PAUSE_SHARE ? 300 + below(IDLE_SECONDS - 300) : 5 + Math.floor(random() ** 3 * 300);
      }
      second += IDLE_SECONDS + 1 + below(4 * 3600);
    } while (random() < AGAIN_SHARE && second <= LAST_SECOND);
  }

  for (let day = 0; day < TRAFFIC_DAYS; day++) {
    const seen = new Set<number>();
    const wanted = Math.round((rows * (day + 1)) / TRAFFIC_DAYS);
    while (count < wanted) {
      const visitor = below(visitors);
      if (seen.has(visitor)) continue;
      seen.add(visitor);
      addDay(visitor, startSeconds + day * DAY_SECONDS);
    }
  }

  const arrives = Float64Array.from(at);
  let late = 0;
  for (let nth = 0; nth < rows; nth++) {
    if (random() >= LATE_SHARE) continue;
    arrives[nth] = (at[nth] ?? 0) + random() * LATE_HOURS_MAX * 3600;
    late++;
  }

  function line(nth: number): string {
    const visitor = who[nth] ?? 0;
    const previous = before[nth] ?? 0;
    const path = pathOf(page[nth] ?? 0);
    const [referrer, query] = LINKS[previous - PATHS] ?? [`https://www.example.com${pathOf(previous)}`, ''];
    const target = query === '' ? path : `${path}${query}campaign-${(nth * 7) % CAMPAIGNS}`;
    return `${addressOf(visitor)} - - [${clfTime(at[nth] ?? 0)}] "GET ${target} HTTP/1.1" 200 5120 "${referrer}" "${agentOf(visitor)}"\n`;
  }

  function write(file: string, by: ArrayLike<number>): void {
    const order = Uint32Array.from(at, (_, nth) => nth).sort(
      (one, other) => (by[one] ?? 0) - (by[other] ?? 0) || one - other,
    );
    const to = openSync(file, 'w');
    for (let from = 0; from < rows; from += LINES_PER_WRITE) {
      writeSync(to, Array.from(order.subarray(from, from + LINES_PER_WRITE), line).join(''));
    }
    closeSync(to);
  }

  return {
    ...{ rows, pageviews, visits, late, endMs },
    writeOrdered: (file) => write(file, at),
    writeLate: (file) => write(file, arrives),
  };
}

const isBot = (visitor: number): boolean => visitor % BOT_OF === 0;
const agentOf = (visitor: number): string => (isBot(visitor) ? BOT : (AGENTS[visitor % AGENTS.length] ?? ''));
const pathOf = (page: number): string => (page === 0 ? '/' : `/section-${page % 40}/page-${page}`);

/** Each visitor has a different address, as long as there are fewer than 2.8 million visitors. */
function addressOf(visitor: number): string {
  const rest = Math.floor(visitor / NETWORKS.length);
  return `${NETWORKS[visitor % NETWORKS.length]}.${rest % 256}.${(rest >> 8) % 256}.${1 + (visitor % 250)}`;
}

function clfTime(seconds: number): string {
  const text = new Date(seconds * 1000).toISOString();
  return `${text.slice(8, 10)}/${MONTHS[Number(text.slice(5, 7)) - 1]}/${text.slice(0, 4)}:${text.slice(11, 19)} +0000`;
}
