import { readFileSync } from 'node:fs';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';

/** The columns of each table, read from docs/tables.md. */
const TABLES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  readFileSync('docs/tables.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, column = '']) => column),
      ),
    ]),
);

const collect = async (site: string, fields: object, headers: Record<string, string> = {}) => {
  const body = { site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', ...fields };
  expect((await weir.collect(body, { 'user-agent': CHROME, ...headers })).status).toBe(204);
};

async function only(site: string, columns = '*') {
  const [row, ...more] = await weir.rows('events', site, 1, columns);
  expect(more).toEqual([]);
  return row ?? {};
}

describe('docs/tables.md: the tables and their columns', () => {
  test('the page has seven tables', () => {
    expect(Object.keys(TABLES)).toHaveLength(7);
  });

  test.each(Object.entries(TABLES))('%s has the columns of the page, and no others', async (table, columns) => {
    const answer = await weir.admin('POST', '/sql', { query: `SELECT * FROM ${table} LIMIT 1` });
    const { data } = answer.json as { data: { columns: readonly { readonly name: string }[] } };
    const shared = table === 'event_rows' ? (TABLES.events ?? []) : [];
    expect(data.columns.map(({ name }) => name).toSorted()).toEqual([...shared, ...columns].toSorted());
  });

  test('columns have the types that the page states', async () => {
    const query =
      'SELECT toTypeName(timestamp) AS t, toTypeName(received_at) AS r, toTypeName(value) AS v, toTypeName(properties) AS p FROM events LIMIT 1';
    const site = await weir.createSite();
    await collect(site, {});
    await only(site);
    expect(await weir.sql(query)).toEqual([
      {
        t: "DateTime64(3, 'UTC')",
        r: "DateTime64(3, 'UTC')",
        v: expect.stringMatching(/^Nullable\(/),
        p: expect.stringMatching(/^JSON/),
      },
    ]);
  });
});

describe('docs/tables.md: events', () => {
  test('a pageview of a browser, with all columns', async () => {
    const site = await weir.createSite({ domain: 'shop.example' });
    const utm = 'utm_source=news&utm_medium=email&utm_campaign=may&utm_term=t&utm_content=c';
    const url = `https://www.shop.example/a/b?x=1&${utm}&ref=r&source=src&via=vv&gclid=abc#part`;
    const fields = { url, referrer: 'https://www.google.com/search?q=x', screen_width: 390, screen_height: 844 };
    await collect(site, fields, {
      'user-agent': IPHONE,
      'x-forwarded-for': '8.8.8.8',
      'accept-language': 'de-DE,de;q=0.9',
    });
    const row = await only(site);
    expect(row).toMatchObject({
      source: 'collect',
      type: 'pageview',
      event_name: '',
      visitor_id: 'v',
      session_id: 's',
      user_id: '',
      profile_id: '',
      value: null,
      value_text: '',
      url: url.slice(0, url.indexOf('#')),
      hostname: 'www.shop.example',
      pathname: '/a/b',
      referrer: fields.referrer,
      referrer_domain: 'google.com',
      utm_source: 'news',
      utm_medium: 'email',
      utm_campaign: 'may',
      utm_term: 't',
      utm_content: 'c',
      ref: 'r',
      source_param: 'src',
      via: 'vv',
      click_id_type: 'gclid',
      country: 'US',
      browser: expect.stringMatching(/Safari/),
      os: 'iOS',
      device_type: 'mobile',
      device_brand: 'Apple',
      device_model: 'iPhone',
      screen_width: 390,
      screen_height: 844,
      bot: '',
      idempotency_key: '',
    });
    expect(row.event_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(row.language).toMatch(/^de/i);
    expect(row.os_version).toMatch(/^17/);
    expect(row.enrichment).not.toBe('');
    expect(Boolean(row.cookieless)).toBe(false);
    expect(JSON.stringify(row)).not.toContain('8.8.8.8');
  });

  test('fields that are sent win over the query of the url', async () => {
    const site = await weir.createSite();
    const sent = {
      utm_source: 'f1',
      utm_medium: 'f2',
      utm_campaign: 'f3',
      utm_term: 'f4',
      utm_content: 'f5',
      ref: 'f6',
      via: 'f7',
    };
    const query = [...Object.keys(sent), 'source'].map((name) => `${name}=query`).join('&');
    const fields = {
      ...sent,
      source: 'f8',
      url: `https://a.example/x?${query}`,
      hostname: 'h.example',
      pathname: '/p',
    };
    await collect(site, fields);
    expect(await only(site)).toMatchObject({ ...sent, source_param: 'f8', hostname: 'h.example', pathname: '/p' });
  });

  test('a server event', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const context = {
      url: 'https://a.example/in?x=1#f',
      ip: '8.8.8.8',
      user_agent: CHROME,
      device_type: 'kiosk',
      platform: 'till',
    };
    const body = {
      name: 'paid',
      value: '9.50',
      properties: { plan: 'pro', n: 3 },
      context,
      url: 'https://loses.example/',
      referrer: 'https://a.example/',
    };
    const answer = await weir.events(
      key,
      { ...body, pathname: '/wins', idempotency_key: 'k1' },
      { 'user-agent': 'curl/8.5.0' },
    );
    expect(answer.status).toBe(202);
    const columns = '*, toString(properties.plan) AS plan, toInt64(properties.n) AS n';
    expect(await only(site, columns)).toMatchObject({
      source: 'server',
      type: 'event',
      event_name: 'paid',
      visitor_id: '',
      session_id: '',
      value: 9.5,
      value_text: '9.50',
      plan: 'pro',
      n: 3,
      url: 'https://a.example/in?x=1',
      hostname: 'a.example',
      pathname: '/wins',
      country: 'US',
      browser: 'Chrome',
      os: 'Windows',
      device_type: 'kiosk',
      platform: 'till',
      bot: '',
      idempotency_key: 'k1',
    });
  });

  test('a server event without context takes them from the request; its HTTP library does not count as a bot', async () => {
    const { site, key } = await weir.createSiteWithKey();
    await weir.events(key, { name: 'request' }, { 'user-agent': CHROME, 'x-forwarded-for': '8.8.8.8' });
    expect(await only(site)).toMatchObject({ country: 'US', browser: 'Chrome', os: 'Windows', device_type: 'desktop' });
    const other = await weir.createSite();
    await weir.events((await weir.createKey(other)).key, { name: 'tool' }, { 'user-agent': 'curl/8.5.0' });
    expect(await only(other)).toMatchObject({ bot: '' });
  });

  test.each([
    ['Direct', { url: 'https://example.com/' }, ''],
    ['Organic Search', { url: 'https://example.com/', referrer: 'https://www.google.com/' }, 'Google'],
    ['Paid Search', { url: 'https://example.com/?gclid=x', referrer: 'https://www.google.com/' }, 'Google'],
    ['Organic Social', { url: 'https://example.com/', referrer: 'https://www.reddit.com/r/x' }, 'Reddit'],
    ['Email', { url: 'https://example.com/?utm_source=news&utm_medium=email' }, undefined],
    ['Referral', { url: 'https://example.com/', referrer: 'https://blog.other.example/post' }, undefined],
  ])('channel %s of %j', async (channel, fields, source) => {
    const site = await weir.createSite();
    await collect(site, fields);
    const row = await only(site, 'channel, traffic_source');
    expect(row.channel).toBe(channel);
    if (source !== undefined && source !== '') expect(row.traffic_source).toBe(source);
  });
});

describe('docs/tables.md: sessions, outcomes', () => {
  test('one row for each session, with the columns of its first event', async () => {
    const site = await weir.createSite();
    const entry = { url: 'https://example.com/in?utm_source=news&utm_medium=email', session_id: 's1' };
    await collect(site, entry, { 'x-forwarded-for': '8.8.8.8' });
    // The later hits come from loopback, which has no location.
    await collect(site, { type: 'event', event_name: 'click', url: 'https://example.com/in', session_id: 's1' });
    await collect(site, { url: 'https://example.com/out', session_id: 's1', referrer: 'https://www.google.com/' });
    await collect(site, { url: 'https://example.com/single', session_id: 's2', visitor_id: 'w' });
    await weir.settled();
    const rows = await weir.rows(
      'sessions',
      site,
      2,
      `${TABLES.sessions?.join(', ')}, toUnixTimestamp64Milli(ended_at) - toUnixTimestamp64Milli(started_at) AS ms`,
    );
    const [first, second] = rows.toSorted((a, b) => String(a.session_id).localeCompare(String(b.session_id)));
    expect(rows).toHaveLength(2);
    expect(first).toMatchObject({
      session_id: 's1',
      visitor_id: 'v',
      entry_path: '/in',
      exit_path: '/out',
      utm_source: 'news',
      channel: 'Email',
    });
    expect([first?.pageviews, first?.events].map(Number)).toEqual([2, 1]);
    expect(first).toMatchObject({
      browser: 'Chrome',
      os: 'Windows',
      device_type: 'desktop',
      utm_medium: 'email',
      referrer_domain: '',
      traffic_source: 'news',
      country: 'US',
      region: 'US-CA',
      city: 'Mountain View',
    });
    expect(Boolean(first?.is_bounce)).toBe(false);
    expect(Number(first?.ms)).toBeGreaterThan(0);
    expect(second).toMatchObject({ session_id: 's2', visitor_id: 'w', entry_path: '/single', exit_path: '/single' });
    expect([second?.pageviews, second?.events, second?.duration_seconds].map(Number)).toEqual([1, 0, 0]);
    expect(Boolean(second?.is_bounce)).toBe(true);
  });

  test('an identify has exactly one outcome, and the counts of the site add up', async () => {
    const { site, key } = await weir.createSiteWithKey();
    await weir.identify(key, { visitor_id: 'v', user_id: 'u' });
    await collect(site, { type: 'identify', identity: { user_id: 'u' } });
    await collect(site, {});
    const outcomes = await weir.rows('outcomes', site, 2, 'outcome');
    expect(outcomes.map((row) => row.outcome)).toEqual(['identify', 'identify']);
    await weir.rows('events', site, 1);
    await weir.settled();
    await weir.balanced();
  });
});
