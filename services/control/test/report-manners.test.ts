import { eventually } from '@weir/testkit/eventually';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from './control-harness.ts';

/** A query that takes far longer than the test. */
const ENDLESS = 'SELECT sum(cityHash64(number)) AS nobody_waits FROM numbers(1000000000000000)';
const RUNNING =
  "SELECT count() AS n FROM system.processes WHERE query LIKE '%nobody_waits%' AND query NOT LIKE '%system.processes%'";

describe('limits of queries (docs/api.md, Admin API)', () => {
  let weir: ControlHarness;
  let queries = 0;

  beforeAll(async () => {
    weir = await openControlHarness(undefined, (analytics) => ({
      ...analytics,
      userQuery(query, params, options) {
        queries += 1;
        return analytics.userQuery(query, params, options);
      },
    }));
    await weir.call('POST', '/sites', { site_id: 'manners', name: 'Manners', domain: 'example.com' });
  }, 120_000);
  afterAll(() => weir.close());

  test('the same report within a second is computed once', async () => {
    const ask = (period: string) => weir.call('GET', `/sites/manners/stats?period=${period}`);
    queries = 0;
    await ask('30d');
    const queriesOfOne = queries;
    queries = 0;
    const replies = await Promise.all([ask('7d'), ask('7d'), ask('7d')]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(queriesOfOne).toBeGreaterThan(0);
    expect(queries).toBe(queriesOfOne);
  });

  test('the same report after a change of the site, its goals or its saved funnels is computed again', async () => {
    const site = await weir.newSite();
    const ask = async (path: string) => (await weir.call('GET', `/sites/${site}/${path}`)).body.data;
    const valuesOf = ({ goals }: { readonly goals: readonly { readonly value: string }[] }) =>
      goals.map(({ value }) => value);
    expect(valuesOf(await ask('conversions'))).toEqual([]);
    const goal = (await weir.call('POST', `/sites/${site}/goals`, { type: 'event', value: 'signup' })).body.data;
    expect(valuesOf(await ask('conversions'))).toEqual(['signup']);
    await weir.call('DELETE', `/sites/${site}/goals/${goal.goal_id}`);
    expect(valuesOf(await ask('conversions'))).toEqual([]);

    expect((await ask('stats?period=today')).timezone).toBe('UTC');
    await weir.call('PATCH', `/sites/${site}`, { timezone: 'Asia/Tokyo' });
    expect((await ask('stats?period=today')).timezone).toBe('Asia/Tokyo');

    const steps = ['page:/', 'event:signup'];
    const { funnel_id } = (await weir.call('POST', `/sites/${site}/funnels`, { name: 'F', steps })).body.data;
    expect((await ask(`funnel?funnel=${funnel_id}`)).steps).toHaveLength(2);
    await weir.call('DELETE', `/sites/${site}/funnels/${funnel_id}`);
    expect((await weir.call('GET', `/sites/${site}/funnel?funnel=${funnel_id}`)).status).toBe(404);

    const all = async () => (await weir.call('GET', '/stats?search=example.com')).body.data.sites;
    const before = (await all()).length;
    const added = await weir.newSite();
    expect(await all()).toHaveLength(before + 1);
    await weir.call('PATCH', `/sites/${added}`, { timezone: 'Asia/Tokyo', name: 'Renamed' });
    expect(await all()).toContainEqual(expect.objectContaining({ timezone: 'Asia/Tokyo', name: 'Renamed' }));
  });

  test('a request can name the time zone of its days', async () => {
    const ask = (zone: string) =>
      weir.call('GET', `/sites/manners/stats?from=2026-11-10&to=2026-11-10&timezone=${zone}`);
    const { from, to, timezone } = (await ask('America/New_York')).body.data;
    expect([timezone, from, to]).toEqual([
      'America/New_York',
      '2026-11-10T00:00:00-05:00',
      '2026-11-11T00:00:00-05:00',
    ]);
    expect([(await ask('Mars/Olympus')).status, (await ask('%2B05:00')).status]).toEqual([400, 400]);
  });

  test('an answer says how long its parts took', async () => {
    const { headers } = await weir.call('GET', '/sites/manners/breakdown?dimension=page&period=7d');
    expect(headers.get('server-timing')).toMatch(/^queue;dur=[\d.]+, db;dur=[\d.]+, total;dur=[\d.]+$/);
  });

  test('a query whose caller leaves is cancelled', async () => {
    const running = async (): Promise<number> => {
      const [row] = await weir.analytics.select<{ n: string | number }>(RUNNING);
      return Number(row?.n);
    };
    const abort = new AbortController();
    const asked = fetch(`${weir.url}/api/admin/sql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify({ query: ENDLESS }),
      signal: abort.signal,
    });
    const left = expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await eventually('the query to run', async () => (await running()) === 1);
    abort.abort();
    await left;
    await eventually('the query to be cancelled', async () => (await running()) === 0);
  });
});
