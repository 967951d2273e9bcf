import { useWeir } from '../use-weir.ts';
import { importText } from './stats-traffic.ts';

const client = useWeir();

type Pages = readonly { readonly value: string; readonly views: number; readonly visits: number }[];
interface Journeys {
  readonly views: number;
  readonly visits: number;
  readonly previous: Pages;
  readonly next: Pages;
  readonly explain?: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}

const START = Date.UTC(2026, 2, 10, 12);
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

/** The pages of each visit. Each pageview is a minute after the pageview before it. */
const VISITS: readonly (readonly string[])[] = [
  ['/', '/a', '/b', '/a', '/c'],
  ['/a'],
  ['/a', '/a', '/a', '/b'],
  ['/', '/a'],
  ['/b', '/c'],
];
const count = (entries: readonly (readonly [page: string, visit: number])[]): Pages =>
  [...new Set(entries.map(([page]) => page))]
    .map((value) => {
      const own = entries.filter(([page]) => page === value);
      return { value, views: own.length, visits: new Set(own.map(([, visit]) => visit)).size };
    })
    .toSorted((a, b) => b.views - a.views || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)));

describe('journeys', () => {
  let site = '';
  const journeys = async (query: string): Promise<Journeys> =>
    (await client.must(200, 'GET', `/sites/${site}/journeys?from=2026-03-10&to=2026-03-10&${query}`)) as Journeys;

  beforeAll(async () => {
    site = await client.createSite();
    const line = (ip: string, minute: number, url: string, user_agent: string): string =>
      JSON.stringify({ time: START + minute * 60_000, ip, url, referrer: '', user_agent, method: 'GET', status: 200 });
    const lines = VISITS.flatMap((pages, visit) =>
      pages.map((page, nth) => line(`8.8.8.${visit}`, nth, page, FIREFOX)),
    );
    // Adds a second visit of the first visitor, and a visit of a bot.
    lines.push(line('8.8.8.0', 240, '/a', FIREFOX), line('66.249.66.1', 0, '/a', GOOGLEBOT));
    await importText(client, site, `${lines.join('\n')}\n`);
  });

  test('the pages before and after a page, counted by hand', async () => {
    const found = await journeys('path=/a');
    expect(found).toMatchObject({ views: 6, visits: 5 });
    expect(found.previous).toEqual([
      { value: '', views: 3, visits: 3 },
      { value: '/', views: 2, visits: 2 },
      { value: '/b', views: 1, visits: 1 },
    ]);
    expect(found.next).toEqual([
      { value: '', views: 3, visits: 3 },
      { value: '/b', views: 2, visits: 2 },
      { value: '/c', views: 1, visits: 1 },
    ]);
  });

  test.each(['/', '/a', '/b', '/c', '/none'])('%s: equal to a count in plain TypeScript', async (path) => {
    const visits = [...VISITS, ['/a']].map((pages) => pages.filter((page, nth) => page !== pages[nth - 1]));
    const views = visits.flatMap((pages, visit) =>
      pages.flatMap((page, nth) => (page === path ? [{ visit, before: pages[nth - 1], after: pages[nth + 1] }] : [])),
    );
    const found = await journeys(`path=${path}`);
    expect(found.views).toBe(views.length);
    expect(found.visits).toBe(new Set(views.map(({ visit }) => visit)).size);
    expect(found.previous).toEqual(count(views.map(({ visit, before = '' }) => [before, visit])));
    expect(found.next).toEqual(count(views.map(({ visit, after = '' }) => [after, visit])));
  });

  test('a pageview without a page is no place in the order', async () => {
    const own = await client.createSite();
    const hit = { site_id: own, visitor_id: 'v', session_id: 's', type: 'pageview' };
    await client.collect(hit, { 'user-agent': FIREFOX });
    await client.collect({ ...hit, pathname: '/x' }, { 'user-agent': FIREFOX });
    await client.settled();
    const found = await client.must(200, 'GET', `/sites/${own}/journeys?period=24h&path=/x`);
    expect(found).toMatchObject({ views: 1, previous: [{ value: '', views: 1 }], next: [{ value: '', views: 1 }] });
  });

  test('views with the same time begin with the entry and end with the exit of their visit', async () => {
    const own = await client.createSite();
    const pages = ['/a', '/b', '/c', '/d'];
    const lines = Array.from({ length: 12 }, (_, visit) =>
      pages.map((url) =>
        JSON.stringify({ time: START, ip: `8.8.4.${visit}`, url, user_agent: FIREFOX, method: 'GET', status: 200 }),
      ),
    ).flat();
    await importText(client, own, `${lines.join('\n')}\n`);
    const period = 'from=2026-03-10&to=2026-03-10';
    const ask = async (path: string) => (await client.must(200, 'GET', `/sites/${own}${path}`)) as never;
    const visitsBy = async (dimension: string): Promise<Readonly<Record<string, number>>> => {
      const found: { readonly rows: readonly { readonly value: string; readonly visits: number }[] } = await ask(
        `/breakdown?${period}&dimension=${dimension}`,
      );
      return Object.fromEntries(found.rows.map(({ value, visits }) => [value, visits]));
    };
    const [entries, exits] = [await visitsBy('entry'), await visitsBy('exit')];
    expect(Object.keys(entries).length).toBeGreaterThan(1);
    for (const page of pages) {
      const { previous, next }: Journeys = await ask(`/journeys?${period}&path=${page}`);
      const outside = (list: Pages): number => list.find(({ value }) => value === '')?.views ?? 0;
      expect([page, outside(previous), outside(next)]).toEqual([page, entries[page] ?? 0, exits[page] ?? 0]);
    }
  });

  test('filters, the length of the lists, and the SQL', async () => {
    const entered = await journeys('path=/a&filter=entry:is:/&limit=1&explain=1');
    expect(entered).toMatchObject({ views: 3, visits: 2, previous: [{ value: '/', views: 2 }] });
    expect(entered.next).toHaveLength(1);
    const { sql = '', params = {} } = entered.explain?.statements[0] ?? {};
    expect(await client.sql(sql, params)).toHaveLength(3);
    const bots = await journeys('path=/a&bots=include');
    expect(bots.views).toBe(7);
  });

  test.each([
    ['', 'path must be a page of up to 1024 chars, such as /pricing'],
    ['path=/a&limit=0', 'limit must be a whole number from 1 to 1000'],
    ['path=/a&page=2', 'page is not a known parameter'],
  ])('%j is refused', async (query, message) => {
    const refused = await client.admin('GET', `/sites/${site}/journeys?${query}`);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(message) } },
    ]);
  });
});
