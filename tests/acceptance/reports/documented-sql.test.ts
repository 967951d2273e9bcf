import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '@weir/testkit/weir-client';
import { useWeir } from '../use-weir.ts';

// Runs the SQL statements of docs/stats.md, and compares their numbers with those of the reports.

const client = useWeir();

const DAY_MS = 86_400_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const page = readFileSync(join(__dirname, '../../../docs/stats.md'), 'utf8');

/** The statement of each section that has one. */
const statements = new Map(
  page.split(/^##+ /m).flatMap((section): [string, string][] => {
    const [heading = ''] = section.split('\n', 1);
    return [...section.matchAll(/```sql\n([^`]+)```/g)].map(([, sql = '']) => [heading, sql]);
  }),
);

/** What each visitor does now: pages begin with a slash, everything else is an event. */
const NOW: Readonly<Record<string, readonly string[]>> = {
  ann: ['/', '/pricing', 'signup', '/checkout', 'Signup', 'purchase'],
  bob: ['/', '/pricing', '/', '/pricing', '$engagement', 'signup', 'signup'],
  cat: ['purchase', '/'],
  old: ['/pricing'],
};

describe('the SQL statements of docs/stats.md have the numbers of the reports', () => {
  const now = Date.now();
  const [from, to] = [now - 3 * DAY_MS, now + DAY_MS];
  let site = '';
  const sql = async (section: string, params: object = {}): Promise<readonly Row[]> => {
    const statement = statements.get(section) ?? '';
    return client.sql(statement, { ...(statement.includes('{site:') && { site }), ...inUse(statement), ...params });
  };
  const inUse = (statement: string): object => (statement.includes('{from:') ? { from, to } : {});
  const report = async <T>(name: string, query = ''): Promise<T> => {
    const period = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
    return (await client.must(200, 'GET', `/sites/${site}/${name}?${period}${query}`)) as T;
  };

  beforeAll(async () => {
    site = await client.createSite();
    const { key } = await client.createKey(site);
    for (const [visitor, daysAgo] of [
      ['ann', 2],
      ['bob', 1],
      ['old', 5],
    ] as const) {
      const event = { name: 'use', visitor_id: visitor, timestamp: now - daysAgo * DAY_MS };
      expect((await client.events(key, event)).status).toBe(202);
    }
    const hit = async (visitor: string, done: string, agent = FIREFOX): Promise<void> => {
      const what = done.startsWith('/')
        ? { type: 'pageview', url: `https://example.com${done}` }
        : { type: 'event', event_name: done, url: 'https://example.com/' };
      const body = { site_id: site, visitor_id: visitor, session_id: `s-${visitor}`, ...what };
      expect((await client.collect(body, { 'user-agent': agent })).status).toBe(204);
    };
    for (const [visitor, all] of Object.entries(NOW)) for (const done of all) await hit(visitor, done);
    await hit('crawler', '/pricing', GOOGLEBOT);
    await client.settled();
  });

  test('the page has these statements', () => {
    expect([...statements.keys()]).toEqual([
      ...['What a visitor has done', 'Realtime', 'All sites', 'Goals', 'Funnels', 'Cohorts', 'Journeys'],
    ]);
  });

  test('What a visitor has done', async () => {
    const { totals } = await report<{ totals: Row }>('stats', '&filter=done_event:is:Signup');
    expect(totals.visitors).toBe(1);
    expect(await sql('What a visitor has done')).toEqual([{ visitors: 1 }]);
  });

  test('Realtime', async () => {
    const { last_30_minutes: all, pages } = (await client.must(200, 'GET', `/sites/${site}/realtime`)) as {
      readonly last_30_minutes: Row;
      readonly pages: readonly Row[];
    };
    const rows = await sql('Realtime');
    expect(rows.filter(({ list }) => list === 'all')).toEqual([{ list: 'all', value: '', ...all }]);
    const found = rows.filter(({ list, value }) => list === 'pages' && value !== '');
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(pages.map((row) => ({ list: 'pages', ...row }))));
  });

  test('All sites', async () => {
    const { totals } = await report<{ totals: Row }>('stats');
    const rows = await sql('All sites', { sites: [site], zones: [0], cuts: [0, from, to], outside: [0, to] });
    const { visitors, pageviews } = totals;
    expect(visitors).toBe(4);
    expect(rows.filter(({ bucket }) => Number(bucket) === from)).toMatchObject([
      { site_id: site, visitors, pageviews },
    ]);
  });

  test('Goals', async () => {
    const goal = { type: 'event', value: 'signup' };
    const { goal_id: id } = (await client.must(201, 'POST', `/sites/${site}/goals`, goal)) as { goal_id: string };
    const { rows } = await report<{ rows: readonly Row[] }>('conversions', `&goal=${id}&dimension=country`);
    expect(rows).toMatchObject([{ conversions: 3, converting_visitors: 2, visitors: 4 }]);
    const names = ['conversions', 'converting_visitors', 'visitors'] as const;
    expect(await sql('Goals')).toEqual(
      rows.map((row) => ({ name: row.value, ...Object.fromEntries(names.map((name) => [name, row[name]])) })),
    );
  });

  test('Funnels', async () => {
    const { steps } = await report<{ steps: readonly Row[] }>('funnel', '&step=page:/&step=event:purchase&within=1h');
    const rows = await sql('Funnels');
    const reached = [1, 2].map((step) =>
      rows.reduce((sum, { level, visitors }) => sum + (Number(level) >= step ? Number(visitors) : 0), 0),
    );
    expect(reached).toEqual([3, 1]);
    expect(steps.map(({ visitors }) => visitors)).toEqual(reached);
  });

  test('Cohorts', async () => {
    const { cohorts } = await report<{
      cohorts: readonly { readonly start: string; readonly visitors: number; readonly returned: readonly number[] }[];
    }>('cohorts');
    const days = cohorts.map(({ start }) => start.slice(0, 10));
    const expected = cohorts.flatMap(({ visitors, returned }, nth) =>
      [visitors, ...returned].map((count, later) => ({
        cohort: days[nth],
        bucket: days[nth + later],
        visitors: count,
      })),
    );
    const found = expected.filter(({ visitors }) => visitors > 0);
    // The visitor `old` is not new.
    expect(found.filter(({ cohort, bucket }) => cohort === bucket)).toHaveLength(3);
    expect(found.length).toBeGreaterThan(3);
    expect(await sql('Cohorts')).toEqual(found);
  });

  test('Journeys', async () => {
    const { next } = await report<{ next: readonly Row[] }>('journeys', '&path=/pricing');
    expect(next).toHaveLength(3);
    const rows = await sql('Journeys');
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(expect.arrayContaining(next.map(({ value, views }) => ({ next: value, views }))));
  });
});
