import { useWeir } from '../use-weir.ts';
import { type Numbers, numbersByHand, rounded } from './stats-by-hand.ts';
import { BERLIN_AUTUMN, generatedLines, importText, SPRING, sendEvents } from './stats-traffic.ts';

const client = useWeir();
const PERIOD = 'from=2026-03-28&to=2026-04-08';
const AUTUMN_WEEK = 'from=2026-10-24&to=2026-10-28';

interface Line extends Numbers {
  readonly value: string;
  readonly before?: Numbers;
}
interface Breakdown {
  readonly has_more: boolean;
  readonly rows: readonly Line[];
  readonly explain?: Explanation;
}
interface Explanation {
  readonly statements: readonly { readonly sql: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly left_out: Readonly<Record<string, number>> & { readonly never_stored: readonly object[] };
}
interface Stats {
  readonly totals: Numbers;
  readonly comparison?: {
    readonly from: string;
    readonly to: string;
    readonly totals: Numbers;
    readonly change: object;
  };
  readonly explain?: Explanation;
}

let site = '';
beforeAll(async () => {
  site = await client.createSite({ timezone: 'Europe/Berlin' });
  await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'path', value: '/docs/b' });
  await importText(client, site, generatedLines([SPRING, BERLIN_AUTUMN], 250));
  await sendEvents(client, site);
});

const get = (path: string, query: string) => client.must(200, 'GET', `/sites/${site}/${path}?${query}`);
const stats = async (query: string) => (await get('stats', `${PERIOD}&${query}`)) as Stats;
const breakdown = async (query: string) => (await get('breakdown', `${PERIOD}&${query}`)) as Breakdown;
const filter = (text: string): string => `filter=${encodeURIComponent(text)}`;
/** Escapes the special characters of a filter in a value. */
const escaped = (value: string): string => value.replace(/[\\,:]/g, '\\$&');
const numbersOf = ({ value: _value, before: _before, ...numbers }: Line): Numbers => numbers;
const hits = (where: string, params: object = {}): Promise<number> =>
  client.number(
    `SELECT count() FROM events WHERE site_id = {site:String} AND bot = '' AND event_name NOT LIKE '$%'
     AND timestamp >= '2026-03-27 23:00:00' AND timestamp < '2026-04-08 22:00:00' AND (${where})`,
    { site, ...params },
  );
const counted = ({ pageviews, events }: Numbers): number => pageviews + events;

describe('a row of a breakdown has the numbers of the stats report that is filtered by its value', () => {
  test.each([
    ...[
      'page',
      'hostname',
      'entry',
      'exit',
      'source',
      'channel',
      'referrer',
      'utm_source',
      'utm_medium',
      'utm_campaign',
    ],
    ...['country', 'region', 'city', 'browser', 'browser_version', 'os', 'os_version', 'device', 'event', 'origin'],
    ...['property:plan', 'property:a.b'],
  ])('%s', async (dimension) => {
    const { rows } = await breakdown(`dimension=${dimension}&limit=2`);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      const name = dimension.startsWith('property:') ? `property:${escaped(dimension.slice(9))}` : dimension;
      expect((await stats(filter(`${name}:is:${escaped(row.value)}`))).totals).toEqual(numbersOf(row));
    }
  });

  test.each(['utm_term', 'utm_content', 'language', 'bot'])('%s, without values in this traffic', async (dimension) => {
    const { rows } = await breakdown(`dimension=${dimension}`);
    expect(rows.map(({ value }) => value)).toEqual(dimension === 'language' ? [''] : []);
  });
});

describe('breakdowns have the numbers of hand-written SQL over `events`', () => {
  test('by channel: all rows of a visit have the channel of its first hit', async () => {
    const rows = (await breakdown('dimension=channel')).rows.filter(({ value }) => value !== '');
    const first = (channel: string) =>
      `session_id IN (SELECT session_id FROM events WHERE site_id = {site:String} AND bot = '' AND session_id != '' AND source != 'server'
         GROUP BY session_id HAVING argMin(channel, (timestamp, event_id)) = '${channel}')`;
    expect(rows.length).toBeGreaterThan(3);
    for (const row of rows) {
      const asked = {
        site,
        zone: 'UTC',
        from: '2026-03-27T23:00:00Z',
        to: '2026-04-08T22:00:00Z',
        where: first(row.value),
      };
      expect(numbersOf(row)).toEqual((await numbersByHand(client, asked, 'total')).get('total'));
    }
  });

  test('by page and by event', async () => {
    const byHand = async (column: string) =>
      (await client.sql(
        `SELECT ${column} AS value, countIf(type = 'pageview') AS pageviews, countIf(type = 'event') AS events,
           uniqExactIf(visitor_id, visitor_id != '') AS visitors
         FROM events WHERE site_id = {site:String} AND bot = '' AND event_name NOT LIKE '$%' AND value != ''
           AND timestamp >= '2026-03-27 23:00:00' AND timestamp < '2026-04-08 22:00:00'
         GROUP BY value ORDER BY visitors DESC, value`,
        { site },
      )) as unknown;
    const short = ({ value, pageviews, events, visitors }: Line) => ({ value, pageviews, events, visitors });
    expect((await breakdown('dimension=page')).rows.map(short)).toEqual(await byHand('pathname'));
    const events = (await breakdown('dimension=event')).rows;
    expect(events.map(short)).toEqual(await byHand('event_name'));
    expect(events.map(({ value }) => value).toSorted()).toEqual(['paid', 'signup']);
  });
});

describe('filters', () => {
  test.each([
    ['page:is:/pricing,/docs/a', "pathname IN ('/pricing', '/docs/a')"],
    ['page:is_not:/pricing,/docs/a', "pathname NOT IN ('/pricing', '/docs/a')"],
    ['page:contains:oc,ric', "pathname LIKE '%oc%' OR pathname LIKE '%ric%'"],
    ['page:contains_not:oc,ric', "NOT (pathname LIKE '%oc%' OR pathname LIKE '%ric%')"],
    ['page:matches:/d*s/*', "pathname LIKE '/d%s/%'"],
    ['page:matches:/PRICING,/docs', '0'],
    ['page:matches_not:/docs*,/', "NOT (pathname LIKE '/docs%' OR pathname = '/')"],
    ['page:is:/a\\,b\\:c', "pathname = '/a,b:c'"],
    ['page:is:/a\\,b:c', "pathname = '/a,b:c'"],
    ['page:contains:%', "position(pathname, '%') > 0"],
    ['page:matches:/100%25_sure', "pathname = '/100%25_sure'"],
    ['page:matches:/.+', '0'],
    ["page:is:/o'brien", "pathname = '/o''brien'"],
    ['country:is:', "country = ''"],
    ['property:plan:is:pro,free', "toString(properties.plan) IN ('pro', 'free')"],
    ['property:plan:is_not:', "toString(properties.plan) != ''"],
    ["property:plan:is_not:o'x,pro", "toString(properties.plan) NOT IN ('o''x', 'pro')"],
    ['property:seats:is:3', 'properties.seats = 3'],
    ['property:no such:is:x', '0'],
    ['origin:is:server', "source = 'server'"],
  ])('%s', async (text, where) => {
    const { totals } = await stats(filter(text));
    expect(counted(totals)).toBe(await hits(where));
    if (where !== '0') expect(counted(totals)).toBeGreaterThan(0);
  });

  test('several filters: a row must match all of them', async () => {
    const { totals } = await stats(
      `${filter('page:contains:/docs')}&${filter('browser:is:Firefox')}&${filter('country:is_not:')}`,
    );
    expect(counted(totals)).toBe(await hits("pathname LIKE '%/docs%' AND browser = 'Firefox' AND country != ''"));
  });

  test('a filter on a dimension of visits selects visits with all their rows', async () => {
    const { totals } = await stats(filter('entry:is:/pricing'));
    const all = await stats('');
    expect(totals.visits).toBeGreaterThan(0);
    expect(totals.visits).toBeLessThan(all.totals.visits);
    const both = await stats(`${filter('entry:is:/pricing')}&${filter('page:is_not:/pricing')}`);
    expect(both.totals.pageviews).toBeGreaterThan(0);
    const rest = await stats(filter('entry:is_not:/pricing'));
    expect(rest.totals.visits + totals.visits).toBe(all.totals.visits);
    expect(rest.totals.pageviews + totals.pageviews).toBe(all.totals.pageviews);
  });
});

describe('bots, comparison, order, pages', () => {
  test('bots are excluded unless they are requested; they have no visits', async () => {
    const [without, all] = [await stats(''), await stats('bots=include')];
    const bots = await client.number(
      `SELECT count() FROM events WHERE site_id = {site:String} AND bot != '' AND timestamp >= '2026-03-27 23:00:00' AND timestamp < '2026-04-08 22:00:00'`,
      { site },
    );
    expect(bots).toBeGreaterThan(0);
    expect(all.totals.pageviews - without.totals.pageviews).toBe(bots);
    expect(all.totals.visits).toBe(without.totals.visits);
    const { rows } = await breakdown('dimension=bot&bots=include');
    expect(rows.map(({ value, pageviews }) => [value, pageviews])).toEqual([['Googlebot', bots]]);
  });

  test('comparison with the days before, and with a year ago', async () => {
    const days = 'from=2026-10-25&to=2026-10-26';
    const compared = (await get('stats', `${days}&compare=previous_period`)) as Stats;
    expect(compared.comparison).toMatchObject({ from: '2026-10-23T00:00:00+02:00', to: '2026-10-25T00:00:00+02:00' });
    const alone = (await get('stats', 'from=2026-10-23&to=2026-10-24')) as Stats;
    expect(compared.comparison?.totals).toEqual(alone.totals);
    expect(compared.comparison?.change).toMatchObject({
      pageviews: rounded(compared.totals.pageviews / alone.totals.pageviews - 1, 4),
    });
    const lastYear = (await get('stats', `${days}&compare=previous_year`)) as Stats;
    expect(lastYear.comparison).toMatchObject({
      from: '2025-10-25T00:00:00+02:00',
      to: '2025-10-27T00:00:00+01:00',
      totals: { pageviews: 0, bounce_rate: null },
      change: { pageviews: null },
    });
    const pages = (await get('breakdown', `${days}&compare=previous_period&dimension=page`)) as Breakdown;
    const before = (await get('breakdown', 'from=2026-10-23&to=2026-10-24&dimension=page')) as Breakdown;
    for (const row of pages.rows) {
      const same = before.rows.find(({ value }) => value === row.value);
      expect(row.before?.visits).toBe(same?.visits ?? 0);
      if (same !== undefined) expect(row.before).toEqual(numbersOf(same));
    }
  });

  test('rows can be ordered by any metric and divided into pages', async () => {
    const all = (await breakdown('dimension=page&order=pageviews:asc')).rows;
    expect(all.map(({ pageviews }) => pageviews)).toEqual(
      all.map(({ pageviews }) => pageviews).toSorted((a, b) => a - b),
    );
    const pages = [];
    for (let page = 1; ; page++) {
      const { rows, has_more: hasMore } = await breakdown(`dimension=page&order=pageviews:asc&limit=2&page=${page}`);
      pages.push(...rows);
      if (!hasMore) break;
    }
    expect(pages).toEqual(all);
    const rates = (await breakdown('dimension=page&order=bounce_rate:desc')).rows.map((row) => row.bounce_rate ?? -1);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
  });
});

describe('explain=1', () => {
  test('the SQL with its parameters gives the same numbers through /api/admin/sql', async () => {
    const query = `${filter('channel:is:Direct')}&${filter('property:plan:is_not:x')}&dimension=page&explain=1`;
    const { explain, rows } = await breakdown(query);
    const { sql = '', params = {} } = explain?.statements[0] ?? {};
    const again = (await client.sql(sql, params)) as unknown as { readonly name: string; readonly pageviews: number }[];
    expect(again.map(({ name, pageviews }) => [name, Number(pageviews)])).toEqual(
      rows.map(({ value, pageviews }) => [value, pageviews]),
    );
    expect(sql).not.toContain('Direct');
  });

  test('the answer has the number of excluded rows, and all numbers add up', async () => {
    const { explain, totals } = await stats(`${filter('page:contains:/docs')}&explain=1`);
    const left = explain?.left_out;
    if (left === undefined) throw new Error('explain=1 has no numbers of excluded rows');
    const { rows = 0, counted: inside = 0, bots = 0, internal_events: internal = 0, filtered = 0 } = left;
    expect(rows).toBe(inside + bots + internal + filtered);
    expect(inside).toBe(counted(totals));
    for (const number of [bots, internal, filtered]) expect(number).toBeGreaterThan(0);
    // A dropped hit counts at its time of receipt, which is now. Therefore this report is about the last 24 hours.
    const now = (await get('stats', 'period=24h&explain=1')) as Stats;
    expect(now.explain?.left_out.never_stored).toEqual([
      { outcome: 'dropped', reason: 'excluded_path', records: expect.any(Number) },
    ]);
  });
});

describe('malicious values', () => {
  test('SQL in a value is not executed', async () => {
    // Counts only the rows of this site, because a shared deployment receives events of other tests in the meantime.
    const countRows = () => client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site });
    const rowsBefore = await countRows();
    for (const hostile of [
      "' OR 1=1 --",
      "'; DROP TABLE records; --",
      '\\',
      "\\' OR 1=1 --",
      '{site:String}',
      "') UNION ALL SELECT * FROM system.users --",
      '(((((',
      '[a-z',
      '\u{1F600}%_*',
    ]) {
      for (const text of ['page:contains', 'entry:matches', 'channel:is', `property:${escaped(hostile)}:is`]) {
        const { totals } = await stats(filter(`${text}:${escaped(hostile)}`));
        expect(counted(totals)).toBe(0);
      }
      expect((await breakdown(`dimension=${encodeURIComponent(`property:${hostile}`)}`)).rows).toEqual([]);
    }
    expect(await countRows()).toBe(rowsBefore);
  });

  test('the maximum number of filters, values and chars is accepted', async () => {
    const values = Array.from({ length: 50 }, (_, n) => `/${n}`).join(',');
    const query = Array.from({ length: 20 }, () => `filter=page:matches_not:${values}`).join('&');
    expect(counted((await stats(query)).totals)).toBe(await hits('1'));
    const long = `filter=page:contains_not:${Array.from({ length: 7 }, (_, n) => `${n}`.repeat(1024)).join(',')}`;
    expect(counted((await stats(long)).totals)).toBe(await hits('1'));
  });
});

test('a period without events has only zeros', async () => {
  const nothing = (await get('stats', 'from=2031-01-01&to=2031-01-02&interval=day')) as Stats & {
    buckets: readonly Numbers[];
  };
  for (const numbers of [nothing.totals, ...nothing.buckets]) {
    expect(numbers).toMatchObject({ visitors: 0, visits: 0, pageviews: 0, events: 0, bounce_rate: null });
  }
  expect((await get('breakdown', `${AUTUMN_WEEK}&dimension=page&limit=1`)) as Breakdown).toMatchObject({
    has_more: true,
  });
});
