import { useWeir } from '../use-weir.ts';

const client = useWeir();

interface Conversions {
  readonly conversions: number;
  readonly converting_visitors: number;
  readonly conversion_rate: number | null;
  readonly revenue: readonly { readonly currency: string; readonly amount: string }[];
}
interface Report {
  readonly visitors: number;
  readonly goals: readonly (Conversions & { readonly goal_id: string; readonly name: string })[];
}
interface ByDimension {
  readonly has_more: boolean;
  readonly rows: readonly (Conversions & { readonly value: string; readonly visitors: number })[];
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

describe('goals', () => {
  let site = '';
  const goals: Record<string, string> = {};
  const add = async (body: object): Promise<string> =>
    ((await client.must(201, 'POST', `/sites/${site}/goals`, body)) as { readonly goal_id: string }).goal_id;
  const report = async (query = ''): Promise<Report> =>
    (await client.must(200, 'GET', `/sites/${site}/conversions?period=24h&${query}`)) as Report;
  const byDimension = async (query: string): Promise<ByDimension> => (await report(query)) as unknown as ByDimension;
  const refusal = async (method: string, path: string, body?: object) => {
    const { status, json } = await client.admin(method, `/sites/${site}/${path}`, body);
    return [status, (json as { readonly error?: { readonly message: string } }).error?.message];
  };

  beforeAll(async () => {
    site = await client.createSite();
    const { key } = await client.createKey(site);
    const view = async (visitor: string, path: string, agent = FIREFOX): Promise<void> => {
      const page = { site_id: site, visitor_id: visitor, session_id: `s-${visitor}`, type: 'pageview' };
      const answer = await client.collect({ ...page, url: `https://example.com${path}` }, { 'user-agent': agent });
      expect(answer.status).toBe(204);
    };
    await view('ann', '/pricing?utm_source=news');
    await view('ann', '/checkout');
    await view('bob', '/pricing');
    await view('eve', '/checkout/done?utm_source=ads');
    await view('eve', '/checkout/done');
    await view('bot', '/checkout/done', GOOGLEBOT);
    const of = (visitor: string) => ({ visitor_id: visitor, session_id: `s-${visitor}` });
    const events = [
      { name: 'signup', ...of('ann') },
      { name: 'signup', ...of('ann'), properties: { plan: 'pro' } },
      { name: 'signup' },
      { name: 'purchase', ...of('eve'), value: '49.90', properties: { currency: 'EUR' } },
      { name: 'purchase', ...of('eve'), value: -5, properties: { currency: 'eur' } },
      { name: 'purchase', ...of('bob'), value: 10, properties: { currency: 'USD' } },
      { name: 'purchase', ...of('bob'), value: 7 },
      { name: 'other', ...of('bob'), value: 1000, properties: { currency: 'EUR' } },
    ];
    for (const event of events) expect((await client.events(key, event)).status).toBe(202);
    await client.settled();
    goals.signup = await add({ type: 'event', value: 'signup', name: 'Signed up' });
    goals.checkout = await add({ type: 'page', value: '/checkout/*' });
    goals.purchase = await add({ type: 'event', value: 'purchase' });
    goals.never = await add({ type: 'event', value: "o'never" });
  });

  test('conversions, converting visitors, rate and revenue, counted by hand', async () => {
    const none = { conversions: 0, converting_visitors: 0, conversion_rate: 0, revenue: [] };
    const found = await report();
    expect(found.visitors).toBe(3);
    const numbers = (id = '') => found.goals.find(({ goal_id: goalId }) => goalId === id);
    expect(numbers(goals.signup)).toMatchObject({
      ...{ name: 'Signed up', type: 'event', value: 'signup' },
      ...{ conversions: 3, converting_visitors: 1, conversion_rate: 0.3333, revenue: [] },
    });
    expect(numbers(goals.checkout)).toMatchObject({ conversions: 2, converting_visitors: 1, conversion_rate: 0.3333 });
    // One purchase has no currency, so its value is not a payment. Other events do not count for this goal.
    expect(numbers(goals.purchase)).toMatchObject({
      ...{ conversions: 4, converting_visitors: 2, conversion_rate: 0.6667 },
      revenue: [
        { currency: 'EUR', amount: '44.9' },
        { currency: 'USD', amount: '10' },
      ],
    });
    expect(numbers(goals.never)).toMatchObject(none);
    const bots = await report('bots=include');
    expect(bots.visitors).toBe(4);
    expect(bots.goals[1]).toMatchObject({ conversions: 3, converting_visitors: 2 });
    const earlier = (await client.must(200, 'GET', `/sites/${site}/conversions?period=yesterday`)) as Report;
    expect(earlier.goals[0]).toMatchObject({ ...none, conversion_rate: null });
  });

  test('by a dimension, counted by hand', async () => {
    const { rows } = await byDimension(`goal=${goals.purchase}&dimension=utm_source`);
    expect(rows).toEqual([
      {
        ...{ value: 'ads', visitors: 1, conversions: 2, converting_visitors: 1, conversion_rate: 1 },
        revenue: [{ currency: 'EUR', amount: '44.9' }],
      },
      { value: 'news', visitors: 1, conversions: 0, converting_visitors: 0, conversion_rate: 0, revenue: [] },
    ]);
    const [first] = (await byDimension(`goal=${goals.purchase}&dimension=utm_source&limit=1&explain=1`)).rows;
    expect(first).toMatchObject({ value: 'ads', revenue: [{ currency: 'EUR', amount: '44.9' }] });
    const plans = await byDimension(`goal=${goals.signup}&dimension=property:plan`);
    expect(plans.rows).toMatchObject([{ value: 'pro', visitors: 1, conversions: 1 }]);
  });

  test.each([
    'page',
    'source',
    'utm_source',
    'entry',
    'exit',
    'country',
    'browser',
    'event',
    'origin',
    'property:currency',
  ])('by %s: each row equals the report with a filter on its value', async (dimension) => {
    for (const goal of [goals.signup, goals.checkout, goals.purchase]) {
      const { rows } = await byDimension(`goal=${goal}&dimension=${dimension}`);
      for (const { value, visitors, ...numbers } of rows) {
        const filter = `filter=${dimension}:is:${encodeURIComponent(value)}`;
        const filtered = await report(`goal=${goal}&${filter}`);
        expect(filtered.visitors).toBe(visitors);
        expect(filtered.goals[0]).toMatchObject(numbers);
      }
    }
  });

  test('order, pages, and the SQL', async () => {
    const query = `goal=${goals.purchase}&dimension=event&order=visitors:asc`;
    const all = await byDimension(query);
    expect(all.rows.map(({ visitors }) => visitors)).toEqual(all.rows.map(({ visitors }) => visitors).toSorted());
    const second = await byDimension(`${query}&limit=1&page=2`);
    expect(second).toMatchObject({ has_more: true, rows: [all.rows[1]] });
    const { explain } = (await report('explain=1')) as unknown as {
      readonly explain: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
    };
    const [counted, revenue] = explain.statements;
    expect(await client.sql(counted?.sql ?? '', counted?.params)).toHaveLength(4);
    expect(await client.sql(revenue?.sql ?? '', revenue?.params)).toHaveLength(2);
  });

  test('goals are created, listed and removed', async () => {
    const body = { type: 'page', value: '/only-here' };
    const id = await add(body);
    expect(await refusal('POST', 'goals', body)).toEqual([
      409,
      `the site has this goal already: ${id}, page /only-here`,
    ]);
    const listed = (await client.must(200, 'GET', `/sites/${site}/goals`)) as readonly object[];
    expect(listed.at(-1)).toMatchObject({ goal_id: id, site_id: site, name: '/only-here', ...body });
    await client.must(200, 'DELETE', `/sites/${site}/goals/${id}`);
    expect(await refusal('DELETE', `goals/${id}`)).toEqual([404, 'goal not found']);
    expect(await refusal('GET', `conversions?goal=${id}`)).toEqual([404, 'goal not found']);
  });

  test('a site has at most 50 goals, and a report of all of them works', async () => {
    const full = await client.createSite();
    expect(await client.must(200, 'GET', `/sites/${full}/conversions`)).toMatchObject({ visitors: 0, goals: [] });
    const value = (n: number): string => `/${'x'.repeat(1_000)}${n}*`;
    for (let n = 0; n < 50; n++)
      await client.must(201, 'POST', `/sites/${full}/goals`, { type: 'page', value: value(n) });
    const more = await client.admin('POST', `/sites/${full}/goals`, { type: 'event', value: 'x' });
    expect([more.status, more.text]).toEqual([409, expect.stringContaining('the site has 50 goals')]);
    const filters = Array.from({ length: 20 }, (_, n) => `filter=property:${n}:is:x`).join('&');
    expect((await client.must(200, 'GET', `/sites/${full}/conversions?${filters}`)) as Report).toMatchObject({
      goals: Array.from({ length: 50 }, () => ({ conversions: 0 })),
    });
  });

  test.each([
    [
      { type: 'event', value: '$engagement' },
      'the name of an event must have 1 to 128 chars and must not begin with $',
    ],
    [{ type: 'event', value: 'x'.repeat(129) }, 'the name of an event must have 1 to 128 chars'],
    [{ type: 'page', value: 'checkout' }, 'a page must be a glob of up to 1024 chars that begins with / or *'],
    [{ type: 'planet', value: 'x' }, 'type must be one of event, page'],
    [{ type: 'event' }, 'value is required'],
  ])('%j is refused', async (body, message) => {
    expect(await refusal('POST', 'goals', body)).toEqual([400, expect.stringContaining(message)]);
  });

  test.each([
    ['dimension=page', 'goal is required when dimension is sent'],
    ['limit=3', 'dimension is required when limit is sent'],
    ['compare=previous_period', 'compare is not a known parameter'],
  ])('%s is refused', async (query, message) => {
    expect(await refusal('GET', `conversions?${query}`)).toEqual([400, expect.stringContaining(message)]);
  });
});
