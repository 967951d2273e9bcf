import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { HttpRequest } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import fc from 'fast-check';
import { bodyOf, headers, jsonText, nearly } from '../../fuzz/hostile-values.ts';

/** What the hostile clients know: a site and an API key of their own, the ID of a site with a low rate limit that they flood, and an admin token. */
export interface HostileTarget {
  readonly site: string;
  readonly key: string;
  readonly floodedSite: string;
  readonly adminToken: string;
  readonly random: () => number;
}

/** One kind of hostile request. A separate client sends each kind. */
export interface HostileKind {
  readonly name: string;
  /** The pause after each answer, in real milliseconds. */
  readonly pauseMs: number;
  /** The next request. `nth` counts from 0. */
  request(target: HostileTarget, nth: number): HttpRequest;
}

const KEYS_AT_ONCE = 500;
const GENERATED = 400;
const REPEATED_KEYS = 10;
const EXPANDED_BYTES = 20 * 1024 * 1024;
const HIT = { visitor_id: 'v', session_id: '', type: 'event', event_name: 'n', event_properties: { a: 1 } };
const EVENT = {
  name: 'n',
  value: 1,
  properties: { a: 1 },
  visitor_id: 'v',
  user_id: 'u',
  context: { ip: '192.0.2.1' },
};
const BOTS = [
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
  'curl/8.5.0',
  'python-requests/2.32',
  'AhrefsBot/7.0',
  '',
];
const DIMENSIONS = ['page', 'entry', 'exit', 'source', 'referrer', 'browser', 'country', 'event', 'visitor', 'no-such'];
const PERIODS = ['today', '24h', '7d', '30d', '12mo', 'all', '-1d'];

/** SQL statements that need too much memory or time, or that are forbidden. */
const STATEMENTS = [
  'SELECT count() FROM numbers(1000000000000000)',
  'SELECT groupArray(toString(number)) FROM numbers(1000000000)',
  'SELECT number, uniqExact(rand64()) FROM numbers(300000000) GROUP BY number',
  'SELECT a.event_id, b.event_id FROM events AS a CROSS JOIN events AS b ORDER BY cityHash64(a.event_id, b.event_id) LIMIT 10',
  'SELECT * FROM events ORDER BY rand() LIMIT 100000',
  'SELECT pathname, uniqExact(visitor_id), groupUniqArray(browser) FROM events GROUP BY pathname ORDER BY pathname',
  "SELECT repeat('x', 1000) FROM numbers(90000)",
  'SELECT visitor_id, count() FROM events GROUP BY visitor_id HAVING count() > 1000000',
  "SELECT * FROM file('/etc/passwd', 'LineAsString')",
  "SELECT * FROM url('http://169.254.169.254/', 'LineAsString')",
  "SELECT repeat('x', 1000000) FROM numbers(1000000)",
  'SELECT sleepEachRow(3) FROM numbers(1000)',
  `SELECT ${'('.repeat(5_000)}1${')'.repeat(5_000)}`,
  'DROP TABLE records',
  'SELECT 1; SELECT 2',
];

/** Returns a function that gives random values with a fixed seed. It makes them only once, because making a value takes longer than sending it. */
function pool<T>(arbitrary: fc.Arbitrary<T>): (nth: number) => T {
  let values: readonly T[] | undefined;
  return (nth) => {
    values ??= fc.sample(arbitrary, { numRuns: GENERATED, seed: 1 });
    return values[nth % values.length] as T;
  };
}
const anyHit = pool(bodyOf(fc.oneof(jsonText, nearly(HIT))));
const anyEvent = pool(bodyOf(fc.oneof(jsonText, nearly(EVENT))));
const anyBatch = pool(bodyOf(fc.array(nearly(EVENT), { maxLength: 20 }).map((events) => `{"events":[${events}]}`)));
const anyHeaders = pool(headers);
const ANY = [
  ['/api/collect', anyHit],
  ['/api/v1/events', anyEvent],
  ['/api/v1/events/batch', anyBatch],
  ['/api/identify', anyEvent],
] as const;

const text = (random: () => number): string => Math.floor(random() * 2 ** 50).toString(36);
const address = (random: () => number): string =>
  `100.${[64, 256, 256].map((n) => Math.floor(random() * n)).join('.')}`;
const pick = <T>(all: readonly T[], nth: number): T => all[nth % all.length] as T;

const HUGE: readonly HttpRequest[] = [
  { path: '/api/collect', body: `{"site_id":"${'x'.repeat(70_000)}"}` },
  { path: '/api/v1/events/batch', body: `{"events":[${'{"name":"n"},'.repeat(200_000)}{}]}` },
  { path: '/api/collect', body: '['.repeat(60_000) },
  { path: '/api/v1/events', body: `{"name":"n","properties":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}` },
  { path: '/api/collect', body: Buffer.alloc(5_000_000, 'x'), chunked: true },
  { path: '/api/v1/events', body: gzipSync(Buffer.alloc(EXPANDED_BYTES)), headers: { 'content-encoding': 'gzip' } },
  {
    path: '/api/collect',
    body: brotliCompressSync(Buffer.alloc(EXPANDED_BYTES)),
    headers: { 'content-encoding': 'br' },
  },
  { path: `/${'p'.repeat(15_000)}` },
];

export const HOSTILE_KINDS: readonly HostileKind[] = [
  {
    name: 'new pages, visitors and browsers',
    pauseMs: 15,
    request({ site, random }) {
      const page = `https://${text(random)}.example.com/${text(random)}?utm_source=${text(random)}&q=${text(random)}`;
      const hit = { site_id: site, visitor_id: text(random), session_id: '', type: 'pageview', url: page };
      const agent = `Mozilla/5.0 (X11; Linux x86_64; rv:${text(random)}) Gecko/20100101 Firefox/${text(random)}`;
      const referrer = `https://${text(random)}.example.net/`;
      return {
        path: '/api/collect',
        body: { ...hit, referrer, title: text(random) },
        headers: { 'x-forwarded-for': address(random), 'user-agent': agent },
      };
    },
  },
  {
    name: 'new visitors without an ID',
    pauseMs: 40,
    request: (sender) => cookielessPageview(sender, `Mozilla/5.0 ${text(sender.random)}`),
  },
  {
    name: 'new properties and names',
    pauseMs: 60,
    request: ({ key, random }) => ({
      path: '/api/v1/events',
      headers: bearer(key),
      body: {
        name: text(random),
        visitor_id: text(random),
        properties: Object.fromEntries(Array.from({ length: 50 }, () => [`p${text(random)}`, text(random).repeat(5)])),
      },
    }),
  },
  {
    name: 'new users',
    pauseMs: 150,
    request: ({ site, random }) => ({
      path: '/api/collect',
      headers: { 'x-forwarded-for': address(random) },
      body: {
        site_id: site,
        visitor_id: text(random),
        session_id: '',
        type: 'identify',
        identity: { user_id: text(random) },
      },
    }),
  },
  {
    name: `${KEYS_AT_ONCE} new idempotency keys`,
    pauseMs: 2_500,
    request: ({ key, random }, nth) => ({
      path: '/api/v1/events/batch',
      headers: bearer(key),
      body: {
        events: Array.from({ length: KEYS_AT_ONCE }, (_, n) => ({
          ...{ name: 'keyed', idempotency_key: `n${nth}-${n}-${text(random)}`, visitor_id: `keyed-${n}` },
        })),
      },
    }),
  },
  {
    name: 'the same idempotency keys',
    pauseMs: 50,
    request: ({ key }, nth) => ({
      path: '/api/v1/events',
      headers: bearer(key),
      body: { name: 'again', idempotency_key: `again-${nth % REPEATED_KEYS}` },
    }),
  },
  {
    name: 'nearly valid and malformed bodies',
    pauseMs: 40,
    request({ key, site }, nth) {
      const [path, values] = pick(ANY, nth);
      const { body, headers: ofBody } = values(nth);
      const ofSite = body.toString('latin1').replace('"n"', `"n","site_id":"${site}"`);
      const sent = nth % 3 === 0 ? Buffer.from(ofSite, 'latin1') : body;
      return { path, method: 'POST', body: sent, headers: { ...bearer(key), ...anyHeaders(nth), ...ofBody } };
    },
  },
  { name: 'huge, deep and compressed bodies', pauseMs: 700, request: ({ key }, nth) => withKey(pick(HUGE, nth), key) },
  {
    name: 'bots',
    pauseMs: 100,
    request: (sender, nth) => cookielessPageview(sender, pick(BOTS, nth)),
  },
  {
    name: 'a flood from one address',
    pauseMs: 10,
    request: ({ floodedSite }) => ({
      path: '/api/collect',
      headers: { 'x-forwarded-for': '198.51.100.200' },
      body: { site_id: floodedSite, visitor_id: 'flood', session_id: '', type: 'event', event_name: 'flood' },
    }),
  },
  {
    name: 'unknown sites and wrong keys',
    pauseMs: 60,
    request({ random }, nth) {
      const wrong = bearer(text(random).repeat((nth % 20) + 1));
      if (nth % 3 === 0) return { path: '/api/collect', body: { ...HIT, site_id: text(random) } };
      return { path: nth % 3 === 1 ? '/api/v1/events' : '/api/identify', body: EVENT, headers: wrong };
    },
  },
  {
    name: 'guesses of the admin token',
    pauseMs: 300,
    request: ({ random }, nth) =>
      nth % 2 === 0
        ? { path: '/api/admin/session', body: { token: text(random) } }
        : { path: '/api/admin/sites', headers: bearer(text(random)) },
  },
  {
    name: 'reports without end',
    pauseMs: 1_000,
    request: ({ site, adminToken, random }, nth) => ({
      path: `/api/admin/sites/${site}/breakdown?dimension=${pick(DIMENSIONS, nth)}&period=${pick(PERIODS, nth)}&limit=1000&filter=page:contains:${text(random)[0]}`,
      headers: bearer(adminToken),
    }),
  },
  {
    name: 'SQL without end',
    pauseMs: 5_000,
    request: ({ adminToken }, nth) => ({
      path: '/api/admin/sql',
      headers: bearer(adminToken),
      body: { query: pick(STATEMENTS, nth) },
    }),
  },
];

function withKey(request: HttpRequest, key: string): HttpRequest {
  return { ...request, headers: { ...bearer(key), ...request.headers } };
}

function cookielessPageview({ site, random }: HostileTarget, userAgent: string): HttpRequest {
  const url = `https://example.com/${text(random)}`;
  return {
    path: '/api/collect',
    body: { site_id: site, visitor_id: '', session_id: '', type: 'pageview', url },
    headers: { 'x-forwarded-for': address(random), 'user-agent': userAgent },
  };
}
