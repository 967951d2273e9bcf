import { post, type RequestMaker } from '../load/load-requests.ts';

/** One event of five is the first one of a new visitor. */
export const EVENTS_PER_VISITOR = 5;
export const BATCH_EVENTS = 500;
const PAGES = 5_000;
const VERSIONS = 30;
const REFERRERS = ['https://www.google.com/', 'https://duckduckgo.com/', 'https://news.example.org/item', '', ''];
const PLATFORMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'Linux; Android 14; Pixel 8',
];

/**
 * The visitor of the n-th event. Of five events, the first is by a new visitor, the next three are by the same visitor, and the last one is by any
 * earlier visitor, who returns. So `rows` events have `rows / 5` visitors, and the state of any of them can be needed again.
 */
export function visitorOf(n: number): number {
  const newest = Math.floor(n / EVENTS_PER_VISITOR);
  return n % EVENTS_PER_VISITOR === EVENTS_PER_VISITOR - 1 ? hash(n) % (newest + 1) : newest;
}

/** A number below 2^32 that looks random, and is the same for the same `n`. */
function hash(n: number): number {
  let mixed = Math.imul(n ^ 0x9e37_79b9, 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The n-th server event: a visitor has seen a page, by default one that depends on `n`. */
function scaleEvent(n: number, url = hitOf(n).url): object {
  const { visitor, referrer, agent } = hitOf(n);
  const seed = hash(visitorOf(n));
  const ip = `${(seed % 190) + 11}.${(seed >>> 8) & 255}.${(seed >>> 16) & 255}.${(seed >>> 24) & 255}`;
  return {
    name: 'page_seen',
    visitor_id: visitor,
    properties: { plan: seed % 3 === 0 ? 'pro' : 'free', position: n % 40 },
    context: { url, referrer, ip, user_agent: agent },
  };
}

/** A batch of events of one page, by the visitors of the events from `first` on. */
export function markedEvents(first: number, path: string): readonly object[] {
  const url = `https://www.example.com${path}`;
  return Array.from({ length: BATCH_EVENTS }, (_, nth) => scaleEvent(first + nth, url));
}

/** Batches of `size` server events; the first one begins with the event `first`. */
export const batchesFrom =
  (key: string, first: number, size: number): RequestMaker =>
  (n) =>
    post('/api/v1/events/batch', { events: eventsFrom(first + n * size, size) }, key);

export function eventsFrom(first: number, count: number): readonly object[] {
  return Array.from({ length: count }, (_, nth) => scaleEvent(first + nth));
}

/** Pageviews of browsers, one for each request; the first one is the event `first`. */
export const pageviewsFrom =
  (site: string, first: number): RequestMaker =>
  (n) => {
    const { visitor, url, referrer, agent } = hitOf(first + n);
    const body = { site_id: site, visitor_id: visitor, session_id: '', type: 'pageview', url, referrer };
    return post('/api/collect', { ...body, screen_width: 1920, screen_height: 1080 }, undefined, agent);
  };

function hitOf(n: number) {
  const visitor = visitorOf(n);
  const seed = hash(visitor);
  const platform = PLATFORMS[seed % PLATFORMS.length] ?? '';
  const version = 100 + ((seed >>> 4) % VERSIONS);
  // The square of the random number makes some pages more popular than others.
  const page = Math.floor((hash(n + 1) / 2 ** 32) ** 2 * PAGES);
  const campaign = n % EVENTS_PER_VISITOR === 0 && seed % 5 === 0 ? '?utm_source=newsletter&utm_medium=email' : '';
  return {
    visitor: `v_${seed.toString(36)}_${visitor}`,
    url: `https://www.example.com/products/${page % 50}/item-${page}${campaign}`,
    referrer: n % EVENTS_PER_VISITOR === 0 ? (REFERRERS[seed % REFERRERS.length] ?? '') : 'https://www.example.com/',
    agent: `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
  };
}
