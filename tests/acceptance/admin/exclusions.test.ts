import { eventually } from '@weir/testkit/eventually';
import { expectEnvelope, expectNoBody } from '../expect-answers.ts';
import { inForceEverywhere, useWeir } from '../use-weir.ts';

const weir = useWeir();
const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

interface Rule {
  readonly dropped: number | null;
  readonly created_at: string;
  readonly last_dropped_at: string | null;
}

interface Hit {
  readonly ip?: string;
  readonly agent?: string;
  readonly fields?: object;
}

const sendHit = (site: string, { ip = '203.0.113.1', agent = BROWSER, fields = {} }: Hit) =>
  weir.collect(
    { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/home', ...fields },
    { 'x-forwarded-for': ip, 'user-agent': agent },
  );

describe('exclusion rules', () => {
  const cases: readonly (readonly [string, string, readonly Hit[], readonly Hit[]])[] = [
    ['ip', '203.0.113.7', [{ ip: '203.0.113.7' }, { ip: '::ffff:203.0.113.7' }], [{ ip: '203.0.113.70' }]],
    ['ip', '198.51.100.0/24', [{ ip: '198.51.100.0' }, { ip: '198.51.100.255' }], [{ ip: '198.51.101.0' }]],
    ['ip', '2001:db8::/32', [{ ip: '2001:db8:ffff::1' }], [{ ip: '2001:db9::1' }]],
    [
      'path',
      '/admin/*',
      [{ fields: { pathname: '/admin/a/b' } }, { fields: { url: 'https://example.com/admin/x?q=1' } }],
      [{ fields: { pathname: '/adminx' } }, { fields: { pathname: '/a/admin/x' } }],
    ],
    ['path', '*.(x)+', [{ fields: { pathname: '/a/b.(x)+' } }], [{ fields: { pathname: '/a/bxx' } }]],
    [
      'hostname',
      'staging.example.com',
      [{ fields: { hostname: 'staging.example.com' } }, { fields: { url: 'https://staging.example.com/' } }],
      [{ fields: { hostname: 'example.com' } }],
    ],
    ['country', 'US', [{ ip: '8.8.8.8' }], [{ ip: '203.0.113.1' }]],
    [
      'user_agent',
      'Firefox/130',
      [{ agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' }],
      [{}],
    ],
    ['visitor', 'colleague', [{ fields: { visitor_id: 'colleague' } }], [{ fields: { visitor_id: 'colleague2' } }]],
    ['bots', '', [{ agent: GOOGLEBOT }], [{}]],
  ];

  test.each(cases)('%s %s drops matching hits and no others', async (type, value, dropped, kept) => {
    const site = await weir.createSite();
    await weir.must(201, 'POST', `/sites/${site}/exclusions`, { type, value });
    await inForceEverywhere();
    for (const hit of [...dropped, ...kept]) expectNoBody(await sendHit(site, hit), 204);
    const outcomes = await weir.rows('outcomes', site, dropped.length, 'outcome, reason');
    expect(outcomes).toEqual(dropped.map(() => ({ outcome: 'dropped', reason: `excluded_${type}` })));
    const rules = async () => (await weir.must(200, 'GET', `/sites/${site}/exclusions`)) as readonly Rule[];
    await eventually('the rule counts them', async () => (await rules())[0]?.dropped === dropped.length);
    const [rule] = await rules();
    expect(rule).toMatchObject({ type, last_dropped_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(Date.parse(rule?.last_dropped_at ?? '')).toBeGreaterThanOrEqual(Date.parse(rule?.created_at ?? ''));
    expect(await weir.rows('events', site, kept.length, 'type')).toHaveLength(kept.length);
  });

  test('rules drop hits of every type and leave no data; they never drop server events', async () => {
    const { site, key } = await weir.createSiteWithKey();
    await weir.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'visitor', value: 'gone' });
    await inForceEverywhere();
    await sendHit(site, { fields: { visitor_id: 'gone' } });
    await sendHit(site, { fields: { visitor_id: 'gone', type: 'event', event_name: 'click' } });
    await sendHit(site, { fields: { visitor_id: 'gone', type: 'identify', identity: { user_id: 'u' } } });
    await weir.events(key, { name: 'server', visitor_id: 'gone' });
    await weir.events(key, { name: 'bare', user_id: 'u' });
    expect(await weir.rows('outcomes', site, 3, 'outcome')).toEqual([1, 2, 3].map(() => ({ outcome: 'dropped' })));
    const events = await weir.rows('events', site, 2, 'event_name, visitor_id');
    expect(events.map((row) => `${row.event_name} ${row.visitor_id}`).toSorted()).toEqual(['bare ', 'server gone']);
    await weir.settled();
    const left = (table: string) => weir.number(`SELECT count() FROM ${table} WHERE site_id = {site:String}`, { site });
    expect([await left('profiles'), await left('events')]).toEqual([0, 2]);
    expect(
      await weir.number(
        `SELECT count() FROM sessions WHERE site_id = {site:String} AND visitor_id = 'gone' AND pageviews > 0`,
        { site },
      ),
    ).toBe(0);
  });

  test('the answer does not show that a hit was dropped: all headers except Date are the same', async () => {
    const site = await weir.createSite();
    await weir.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'visitor', value: 'gone' });
    await inForceEverywhere();
    const bare = async (visitor_id: string) => {
      const { status, headers, text } = await sendHit(site, { fields: { visitor_id } });
      return { status, text, headers: { ...headers, date: '' } };
    };
    expect(await bare('gone')).toEqual(await bare('here'));
  });

  test('a removed rule no longer drops hits', async () => {
    const site = await weir.createSite();
    const rule = (await weir.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'visitor', value: 'v' })) as {
      rule_id: string;
      type: string;
      value: string;
    };
    expect(rule).toMatchObject({ type: 'visitor', value: 'v' });
    expect(await weir.must(200, 'GET', `/sites/${site}/exclusions`)).toMatchObject([
      { rule_id: rule.rule_id, value: 'v' },
    ]);
    expect([200, 204]).toContain((await weir.admin('DELETE', `/sites/${site}/exclusions/${rule.rule_id}`)).status);
    expect(await weir.must(200, 'GET', `/sites/${site}/exclusions`)).toEqual([]);
    await inForceEverywhere();
    expectNoBody(await sendHit(site, {}), 204);
    await weir.rows('events', site, 1);
    expectEnvelope(await weir.admin('DELETE', `/sites/${site}/exclusions/${rule.rule_id}`), 404);
  });

  test.each([
    { type: 'nonsense', value: 'x' },
    { type: 'ip', value: '300.1.1.1' },
    { type: 'ip', value: '10.0.0.0/33' },
    { type: 'ip', value: '' },
    { type: 'country', value: 'Germany' },
    { type: 'country', value: 'UK' },
    { type: 'country', value: 'EU' },
    { type: 'country', value: 'ZZ' },
    { type: 'path' },
    { type: 'path', value: 5 },
    { value: 'x' },
  ])('400: %j', async (rule) => {
    const site = await weir.createSite();
    expectEnvelope(await weir.admin('POST', `/sites/${site}/exclusions`, rule), 400);
  });

  test('UK is refused, and the message suggests GB', async () => {
    const answer = await weir.admin('POST', `/sites/${await weir.createSite()}/exclusions`, {
      type: 'country',
      value: 'uk',
    });
    expect(answer.text).toMatch(/ISO 3166-1 alpha-2.*for UK use GB/);
  });

  test.each([
    ['ip', '198.51.100.7/24', ['198.51.100.0/24', '198.51.100.255/24', '::ffff:198.51.100.0/120']],
    ['ip', '192.0.2.1', ['192.0.2.1/32', '::ffff:192.0.2.1', '::FFFF:C000:201/128']],
    ['ip', '2001:DB8:0:0::1/64', ['2001:db8::/64', '2001:0db8:0000:0000:ffff::/64']],
    ['hostname', 'Staging.Example.com', ['staging.example.com', 'staging.example.com.']],
    ['hostname', '*.m\u00fcller.example', ['*.xn--mller-kva.example', '**.M\u00dcLLER.example']],
    ['country', 'de', ['DE', 'dE']],
    ['path', '/\u00e4/*', ['/%C3%A4/*', '/%c3%a4/**']],
    ['user_agent', 'HeadlessChrome', ['headlesschrome', ' HeadlessChrome ']],
    ['bots', 'all', ['', '*']],
  ])('two spellings of %s %s are one rule: 409 names it', async (type, value, others) => {
    const site = await weir.createSite();
    const made = (await weir.must(201, 'POST', `/sites/${site}/exclusions`, { type, value })) as { rule_id: string };
    for (const other of others) {
      const answer = await weir.admin('POST', `/sites/${site}/exclusions`, { type, value: other });
      expectEnvelope(answer, 409);
      expect(answer.text).toContain(made.rule_id);
    }
    expect(await weir.must(200, 'GET', `/sites/${site}/exclusions`)).toHaveLength(1);
  });

  test.each([{ type: 'bots' }, { type: 'bots', value: '' }, { type: 'bots', value: 'true' }])(
    'a bots rule has nothing to name: %j is taken',
    async (rule) => {
      await weir.must(201, 'POST', `/sites/${await weir.createSite()}/exclusions`, rule);
    },
  );

  test('a rule of one site does not affect another site', async () => {
    const [one, two] = [await weir.createSite(), await weir.createSite()];
    await weir.must(201, 'POST', `/sites/${one}/exclusions`, { type: 'visitor', value: 'v' });
    await inForceEverywhere();
    expectNoBody(await sendHit(two, {}), 204);
    await weir.rows('events', two, 1);
  });
});
