import { useWeir } from '../use-weir.ts';

const client = useWeir();

interface Properties {
  readonly has_more: boolean;
  readonly properties: readonly {
    readonly name: string;
    readonly visitors: number;
    readonly pageviews: number;
    readonly events: number;
  }[];
  readonly explain?: { readonly statements: readonly { readonly sql: string; readonly params: object }[] };
}

const AT = Date.UTC(2026, 2, 10, 12);
const MARKUP = `"'><img src=x onerror=alert(1)>`;
const EVENTS = [
  { name: 'signup', visitor_id: 'ann', properties: { plan: 'pro', cart: { total: 7, items: [] } } },
  { name: 'signup', visitor_id: 'bob', properties: { plan: 'free', 'cart.total': 9 } },
  { name: 'opened', visitor_id: 'bob', properties: { plan: 'free', [MARKUP]: true, none: null } },
  { name: 'opened', properties: { plan: 7, 'größe 1': '' } },
  // These names are not valid in the dimension property:NAME.
  { name: 'opened', visitor_id: 'ann', properties: { 'with\u0001control': 1, ['x'.repeat(257)]: 1 } },
];

describe('the names of custom properties', () => {
  let site = '';
  const ask = async (query = ''): Promise<Properties> =>
    (await client.must(200, 'GET', `/sites/${site}/properties?from=2026-03-10&to=2026-03-10&${query}`)) as Properties;
  const names = ({ properties }: Properties) => properties.map(({ name }) => name);

  beforeAll(async () => {
    site = await client.createSite();
    const { key } = await client.createKey(site);
    for (const event of EVENTS) expect((await client.events(key, { timestamp: AT, ...event })).status).toBe(202);
    const before = { name: 'signup', timestamp: AT - 86_400_000, properties: { earlier: 1 } };
    expect((await client.events(key, before)).status).toBe(202);
    await client.settled();
  });

  test('each name in the period, with its numbers, those of the most events first', async () => {
    const { properties, has_more: hasMore } = await ask();
    expect(hasMore).toBe(false);
    expect(properties).toEqual([
      { name: 'plan', visitors: 2, pageviews: 0, events: 4 },
      { name: 'cart.total', visitors: 2, pageviews: 0, events: 2 },
      { name: MARKUP, visitors: 1, pageviews: 0, events: 1 },
      { name: 'cart.items', visitors: 1, pageviews: 0, events: 1 },
      { name: 'größe 1', visitors: 0, pageviews: 0, events: 1 },
    ]);
  });

  test('each name is a dimension with values', async () => {
    for (const name of names(await ask())) {
      const dimension = encodeURIComponent(`property:${name}`);
      const path = `/sites/${site}/breakdown?from=2026-03-10&to=2026-03-10&dimension=${dimension}`;
      const { rows } = (await client.must(200, 'GET', path)) as { readonly rows: readonly unknown[] };
      // The value of this property is the empty text. A breakdown does not list it.
      expect([name, rows.length > 0]).toEqual([name, name !== 'größe 1']);
    }
  });

  test('a name that ClickHouse would read as a part of another property has no value', async () => {
    const of = `/sites/${site}/`;
    const period = 'from=2026-03-10&to=2026-03-10';
    for (const name of ['plan.:`Int64`', 'plan.:`String`', '^`cart`']) {
      const by = `dimension=${encodeURIComponent(`property:${name}`)}`;
      const { rows } = (await client.must(200, 'GET', `${of}breakdown?${period}&${by}`)) as {
        rows: readonly unknown[];
      };
      expect([name, rows]).toEqual([name, []]);
      const without = `filter=${encodeURIComponent(`property:${name.replace(':', '\\:')}:is:`)}`;
      const { totals } = (await client.must(200, 'GET', `${of}stats?${period}&${without}`)) as {
        totals: { events: number };
      };
      expect([name, totals.events]).toEqual([name, EVENTS.length]);
    }
  });

  test('filters, limit and explain', async () => {
    expect(names(await ask('filter=event:is:signup'))).toEqual(['cart.total', 'plan', 'cart.items']);
    expect(names(await ask('filter=channel:is:none'))).toEqual([]);
    const two = await ask('limit=2&explain=1');
    expect([names(two), two.has_more]).toEqual([['plan', 'cart.total'], true]);
    const { sql = '', params = {} } = two.explain?.statements[0] ?? {};
    expect((await client.sql(sql, params)).map(({ name }) => name)).toEqual(['plan', 'cart.total', MARKUP]);
  });

  test.each([
    ['limit=0', 'limit must be a whole number from 1 to 1000'],
    ['limit=1001', 'limit must be a whole number from 1 to 1000'],
    ['compare=previous_period', 'compare is not a known parameter'],
  ])('%s is refused', async (query, message) => {
    const refused = await client.admin('GET', `/sites/${site}/properties?${query}`);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { message: expect.stringContaining(message) } },
    ]);
  });
});
