import { useWeir } from '../use-weir.ts';

const client = useWeir();

const HOUR_MS = 3600_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

/** Visits in the last minutes: each with the visitor, and the pages and events of the visitor in order. Pages begin with a slash. */
const VISITS: readonly (readonly [visitor: string, ...done: readonly string[]])[] = [
  ['ann', '/', '/pricing', 'Signup'],
  ['bob', '/', '/blog'],
  ['cat', '/pricing', 'Sign up later'],
];

interface Numbers {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
}
interface Explain {
  readonly statements: readonly { readonly sql: string; readonly params: object }[];
  readonly left_out: object;
}

describe('filters on what a visitor has done', () => {
  let site = '';
  const ask = async <T>(path: string): Promise<T> => (await client.must(200, 'GET', `/sites/${site}${path}`)) as T;
  const totals = async (filters: readonly string[], query = ''): Promise<readonly number[]> => {
    const chosen = filters.map((filter) => `&filter=${encodeURIComponent(filter)}`).join('');
    const report = await ask<{ readonly totals: Numbers }>(`/stats?period=24h${chosen}${query}`);
    const { visitors, visits, pageviews, events } = report.totals;
    return [visitors, visits, pageviews, events];
  };

  beforeAll(async () => {
    site = await client.createSite();
    const { key } = await client.createKey(site);
    const hit = (visitor: string, done: string, agent = FIREFOX) =>
      client.collect(
        {
          ...{ site_id: site, visitor_id: visitor, session_id: `session-${visitor}` },
          ...(done.startsWith('/')
            ? { type: 'pageview', url: `https://example.com${done}` }
            : { type: 'event', event_name: done, url: 'https://example.com/' }),
        },
        { 'user-agent': agent },
      );
    for (const [visitor, ...all] of VISITS) {
      for (const done of all) expect((await hit(visitor, done)).status).toBe(204);
    }
    await hit('crawler', 'Signup', GOOGLEBOT);
    // Two more events: one without a visitor, and one of bob that is older than the period of the reports (24 hours).
    const sent = [
      { name: 'Signup', timestamp: Date.now() },
      { name: 'Signup', visitor_id: 'bob', timestamp: Date.now() - 30 * HOUR_MS },
    ];
    for (const event of sent) expect((await client.events(key, event)).status).toBe(202);
    await client.settled();
  });

  // Without a filter: 3 visitors, 3 visits, 5 pageviews and 3 events.
  test.each([
    [['done_event:is:Signup'], [1, 1, 2, 1]],
    [['done_event:is_not:Signup'], [2, 2, 3, 2]],
    [['done_event:is:Signup,Sign up later'], [2, 2, 3, 2]],
    [['done_event:contains:Sign'], [2, 2, 3, 2]],
    [['done_event:contains_not:later'], [2, 2, 4, 2]],
    [['done_event:matches:Sign*later'], [1, 1, 1, 1]],
    [['viewed_page:is:/pricing'], [2, 2, 3, 2]],
    [['viewed_page:matches_not:/p*'], [1, 1, 2, 1]],
    [
      ['viewed_page:is:/', 'viewed_page:is:/pricing'],
      [1, 1, 2, 1],
    ],
    [
      ['viewed_page:is:/', 'done_event:is_not:Signup'],
      [1, 1, 2, 0],
    ],
    // The event of cat happened on the page `/`, but cat has no pageview of this page.
    [
      ['viewed_page:is:/', 'event:is:Sign up later'],
      [0, 0, 0, 0],
    ],
    // Filters such as `page` select rows. They do not change which visitors pass the filter `done_event`.
    [
      ['done_event:is:Signup', 'page:is:/pricing'],
      [1, 1, 1, 0],
    ],
    [
      ['done_event:is:Signup', 'entry:is:/'],
      [1, 1, 2, 1],
    ],
    [['done_event:is:$engagement'], [0, 0, 0, 0]],
  ] as const)('%j: the visitors, visits, pageviews and events', async (filters, expected) => {
    expect(await totals(filters)).toEqual(expected);
  });

  test('what a bot has done counts only with bots', async () => {
    expect(await totals(['done_event:is:Signup'], '&bots=include')).toEqual([2, 1, 2, 2]);
    expect(await totals(['done_event:is:Signup', 'bot:is_not:'], '&bots=include')).toEqual([1, 0, 0, 1]);
  });

  test('a comparison selects visitors by what they did in the period of the comparison', async () => {
    const { totals: now, comparison } = await ask<{
      readonly totals: Numbers;
      readonly comparison: { readonly totals: Numbers };
    }>('/stats?period=24h&compare=previous_period&filter=done_event:is:Signup');
    expect([now.visitors, comparison.totals.visitors, comparison.totals.events]).toEqual([1, 1, 1]);
  });

  test('a row of a breakdown equals stats with a filter on its value', async () => {
    const filter = 'viewed_page:is:/pricing';
    for (const dimension of ['page', 'event', 'entry', 'channel']) {
      const { rows } = await ask<{ readonly rows: readonly (Numbers & { readonly value: string })[] }>(
        `/breakdown?period=24h&dimension=${dimension}&filter=${filter}`,
      );
      expect(rows.length).toBeGreaterThan(0);
      for (const { value, visitors, visits, pageviews, events } of rows) {
        const same = await totals([filter, `${dimension}:is:${value}`]);
        expect([dimension, value, visitors, visits, pageviews, events]).toEqual([dimension, value, ...same]);
      }
    }
  });

  test('goals, funnels, cohorts, journeys, properties and realtime select the same visitors', async () => {
    await client.must(201, 'POST', `/sites/${site}/goals`, { name: 'Signup', type: 'event', value: 'Signup' });
    const filter = 'filter=viewed_page:is:/pricing';
    const conversions = await ask<{ readonly visitors: number; readonly goals: readonly object[] }>(
      `/conversions?period=24h&${filter}`,
    );
    expect(conversions).toMatchObject({ visitors: 2, goals: [{ conversions: 1, converting_visitors: 1 }] });
    const funnel = (query: string) =>
      ask<{ readonly steps: readonly { readonly visitors: number }[] }>(
        `/funnel?period=24h&step=page:/&step=page:/pricing${query}`,
      );
    expect((await funnel('')).steps.map(({ visitors }) => visitors)).toEqual([2, 1]);
    expect((await funnel('&filter=done_event:is_not:Signup')).steps.map(({ visitors }) => visitors)).toEqual([1, 0]);
    const { cohorts } = await ask<{ readonly cohorts: readonly { readonly visitors: number }[] }>(
      `/cohorts?period=24h&interval=day&${filter}`,
    );
    expect(cohorts.reduce((sum, { visitors }) => sum + visitors, 0)).toBe(2);
    expect(await ask(`/journeys?period=24h&path=/pricing&filter=done_event:is:Signup`)).toMatchObject({
      views: 1,
      previous: [{ value: '/', views: 1 }],
    });
    expect(await ask(`/properties?period=24h&${filter}`)).toMatchObject({ properties: [] });
    expect(await ask(`/realtime?${filter}`)).toMatchObject({
      last_30_minutes: { visitors: 2, pageviews: 3, events: 2 },
    });
  });

  test('an export has the rows or the sessions of these visitors', async () => {
    const lines = async (kind: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
      const since = new Date(Date.now() - HOUR_MS).toISOString();
      const query = `since=${since}&filter=done_event:is:Signup&filter=origin:is:collect`;
      const { status, text } = await client.admin('GET', `/sites/${site}/export/${kind}?${query}`);
      expect(status).toBe(200);
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    };
    const visitorsOf = (rows: Awaited<ReturnType<typeof lines>>) => rows.map(({ visitor_id }) => visitor_id).toSorted();
    // An export has the rows of bots too.
    expect(visitorsOf(await lines('events'))).toEqual(['ann', 'ann', 'ann', 'crawler']);
    expect(visitorsOf(await lines('sessions'))).toEqual(['ann']);
  });

  test('explain counts the rows that the filter leaves out, and its SQL runs', async () => {
    const { explain } = await ask<{ readonly explain: Explain }>(
      '/stats?period=24h&filter=done_event:is:Signup&explain=1',
    );
    expect(explain.left_out).toMatchObject({ rows: 9, counted: 3, bots: 1, filtered: 5, without_visit: 0 });
    const { sql = '', params } = explain.statements[0] ?? {};
    expect(sql).not.toContain('Signup');
    const [total] = await client.sql(`SELECT visitors, pageviews FROM (${sql}) WHERE is_total`, params);
    expect([Number(total?.visitors), Number(total?.pageviews)]).toEqual([1, 2]);
  });

  test('a segment can have filters on what visitors have done', async () => {
    const filters = ['done_event:is_not:Signup', 'viewed_page:matches:/p*'];
    await client.must(201, 'POST', `/sites/${site}/segments`, { name: 'Interested', filters });
    expect(await client.must(200, 'GET', `/sites/${site}/segments`)).toMatchObject([{ name: 'Interested', filters }]);
    expect(await totals(filters)).toEqual([1, 1, 1, 1]);
  });

  test.each([
    ['/breakdown?dimension=done_event', 'done_event and viewed_page are only for filters'],
    ['/breakdown?dimension=viewed_page', 'done_event and viewed_page are only for filters'],
    ['/stats?filter=done_event:is:', 'filter must not have an empty value for done_event'],
    ['/stats?filter=viewed_page:is_not:/,', 'filter must not have an empty value for viewed_page'],
    ['/stats?filter=done_event:Signup', 'filter must be DIMENSION:OPERATOR:VALUE,VALUE'],
  ])('%s is refused', async (path, message) => {
    const refused = await client.admin('GET', `/sites/${site}${path}`);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(message) } },
    ]);
  });
});
