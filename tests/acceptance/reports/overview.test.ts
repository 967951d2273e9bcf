import { useWeir } from '../use-weir.ts';
import type { Numbers } from './stats-by-hand.ts';
import { generatedLines, importText, SPRING, sendEvents } from './stats-traffic.ts';

const client = useWeir();

interface SiteNumbers {
  readonly site_id: string;
  readonly timezone: string;
  readonly totals: Numbers;
  readonly before: Numbers;
  readonly change: Readonly<Record<keyof Numbers, number | null>>;
  readonly series: readonly number[];
  readonly last_5_minutes: { readonly visitors: number };
}
interface Overview {
  readonly interval: string;
  readonly has_more: boolean;
  readonly periods: readonly {
    readonly timezone: string;
    readonly from: string;
    readonly to: string;
    readonly starts: readonly string[];
    readonly comparison: { readonly from: string; readonly to: string };
  }[];
  readonly sites: readonly SiteNumbers[];
  readonly explain?: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}
interface Stats {
  readonly from: string;
  readonly to: string;
  readonly totals: Numbers;
  readonly buckets: readonly (Numbers & { readonly start: string })[];
  readonly comparison: {
    readonly from: string;
    readonly to: string;
    readonly totals: Numbers;
    readonly change: object;
  };
}

const ZONES = ['Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Europe/Berlin'];

describe('the totals of all sites', () => {
  const own: string[] = [];
  const overview = async (query: string): Promise<Overview> =>
    (await client.must(200, 'GET', `/stats?limit=500&${query}`)) as Overview;

  beforeAll(async () => {
    for (const [nth, timezone] of ZONES.entries()) {
      const site = await client.createSite({ timezone });
      own.push(site);
      if (nth === 0) continue;
      await importText(client, site, generatedLines([SPRING], 60 * nth));
      if (nth === 3) await sendEvents(client, site);
    }
    await importText(client, own[0] ?? '', BY_HAND);
  });

  test.each([
    ['from=2026-03-29&to=2026-03-31', 'day'],
    ['from=2026-03-29&to=2026-03-29', 'hour'],
    ['from=2026-04-04&to=2026-04-06&bots=include', 'hour'],
    ['from=2026-03-29T05:17:00Z&to=2026-04-04T19:03:30Z', 'day'],
    ['from=2026-03-01&to=2026-04-30', 'week'],
    ['period=7d', 'day'],
  ])('%s by %s: each site has the numbers of its own stats report', async (query, interval) => {
    const found = await overview(`${query}&interval=${interval}`);
    for (const site of own) {
      const stats = (await client.must(
        200,
        'GET',
        `/sites/${site}/stats?${query}&interval=${interval}&compare=previous_period`,
      )) as Stats;
      const one = found.sites.find(({ site_id: id }) => id === site);
      expect(one?.totals).toEqual(stats.totals);
      expect(one?.before).toEqual(stats.comparison.totals);
      expect(one?.change).toEqual(stats.comparison.change);
      expect(one?.series).toEqual(stats.buckets.map(({ visitors }) => visitors));
      const period = found.periods.find(({ timezone }) => timezone === one?.timezone);
      expect(period).toMatchObject({ from: stats.from, to: stats.to, starts: stats.buckets.map(({ start }) => start) });
      expect(period?.comparison).toEqual({ from: stats.comparison.from, to: stats.comparison.to });
    }
  });

  /** In Berlin time, the visit of Carl begins on 28 March and ends on 29 March. Bob visits on 29 March, and Ann on 30 March. */
  test('numbers counted by hand', async () => {
    const found = await overview('from=2026-03-29&to=2026-03-30');
    expect(found.interval).toBe('hour');
    const byDay = await overview('from=2026-03-29&to=2026-03-30&interval=day');
    expect(byDay.sites.find(({ site_id: id }) => id === own[0])).toMatchObject({
      totals: { visitors: 3, visits: 2, pageviews: 3, events: 0, bounce_rate: 1 },
      before: { visitors: 1, visits: 1, pageviews: 1, bounce_rate: 0, visit_duration: 600, views_per_visit: 2 },
      change: { visitors: 2, visits: 1, pageviews: 2, events: null, bounce_rate: null },
      series: [2, 1],
    });
    const hours = found.sites.find(({ site_id: id }) => id === own[0])?.series ?? [];
    // Two days have 47 hours here: in Berlin, summer time begins on 29 March 2026.
    expect(hours).toHaveLength(47);
    expect(hours.flatMap((visitors, hour) => (visitors === 0 ? [] : [[hour, visitors]]))).toEqual([
      [0, 1],
      [13, 1],
      [32, 1],
    ]);
  });

  test('the visitors now are those of the realtime report', async () => {
    const site = await client.createSite({ name: 'Now' });
    for (const visitor of ['v1', 'v1', 'v2']) {
      const hit = { site_id: site, visitor_id: visitor, session_id: visitor, type: 'pageview' };
      await client.collect({ ...hit, url: 'https://example.com/' }, { 'user-agent': FIREFOX });
    }
    await client.rows('events', site, 3);
    const found = (await overview('period=today')).sites.find(({ site_id: id }) => id === site);
    const realtime = (await client.must(200, 'GET', `/sites/${site}/realtime`)) as SiteNumbers;
    expect(found?.last_5_minutes.visitors).toBe(2);
    expect(realtime.last_5_minutes.visitors).toBe(2);
  });

  test('a search finds sites by name, domain and ID', async () => {
    const site = await client.createSite({ name: 'Straße & Söhne', domain: 'findme.example.org' });
    const search = async (text: string) =>
      (await overview(`period=today&search=${encodeURIComponent(text)}`)).sites.map(({ site_id: id }) => id);
    expect(await search('söhne')).toEqual([site]);
    expect(await search(' FindMe.example')).toEqual([site]);
    expect(await search(site.toUpperCase())).toEqual([site]);
    expect(await search('no such site')).toEqual([]);
  });

  test('pages of sites, and the SQL', async () => {
    // Other suites may create sites at the same time. Therefore the requests search for the sites of this test.
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth++) ids.push(await client.createSite({ name: 'Pages of sites' }));
    const page = (nth: number) =>
      client.must(200, 'GET', `/stats?period=today&search=pages%20of%20sites&limit=2&page=${nth}`) as Promise<Overview>;
    const [first, second] = [await page(1), await page(2)];
    expect([...first.sites, ...second.sites].map(({ site_id: id }) => id)).toEqual(ids.toSorted());
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    const explained = await overview('from=2026-03-29&to=2026-03-31&explain=1');
    const { sql = '', params = {} } = explained.explain?.statements[0] ?? {};
    expect((await client.sql(sql, params)).length).toBeGreaterThan(0);
  });

  test.each([
    ['period=all', 'period must not be all: each site would have another period'],
    [
      'from=2020-01-01&to=2021-01-01&interval=day',
      'interval must give at most 180 buckets; day gives more in this period',
    ],
    [
      'filter=page:is:/',
      'filter is not a known parameter; known are period, from, to, interval, bots, explain, search, limit, page',
    ],
    ['limit=501', 'limit must be a whole number from 1 to 500'],
    ['to=2026-01-01', 'from is required when to is sent'],
  ])('%s is refused', async (query, message) => {
    const refused = await client.admin('GET', `/stats?${query}`);
    expect([refused.status, refused.json]).toMatchObject([400, { error: { message } }]);
  });
});

const line = (time: string, ip: string): string =>
  JSON.stringify({ time, ip, url: '/', referrer: '', user_agent: FIREFOX, method: 'GET', status: 200 });
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const [CARL, ANN, BOB] = ['8.8.8.1', '8.8.8.2', '8.8.8.3'];
const BY_HAND = `${[
  line('2026-03-28T22:55:00Z', CARL),
  line('2026-03-28T23:05:00Z', CARL),
  line('2026-03-29T12:30:00Z', BOB),
  line('2026-03-30T07:00:00Z', ANN),
].join('\n')}\n`;
