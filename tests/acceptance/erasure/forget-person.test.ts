import { eventually } from '@weir/testkit/eventually';
import { profileIdOf } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';

const TABLES = [
  'events',
  'people_events',
  'sessions',
  'profiles',
  'links',
  'links_log',
  'payment_customers',
  'payments',
  'people_seen',
  'moved_hours',
  'dead_letters',
];

/** Returns the rows of a site in all `TABLES`, except the rows that contain one of `names`. */
async function others(site: string, ...names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of TABLES) {
    const rows = await weir.sql(`SELECT * FROM ${table} WHERE site_id = {site:String}`, { site });
    found.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`));
  }
  return found.filter((row) => !names.some((name) => row.includes(name))).toSorted();
}

async function forget(site: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const begun = (await weir.must(202, 'POST', `/sites/${site}/erasures`, body)) as { erasure_id: string };
  return done(begun.erasure_id);
}

function done(erasureId: string): Promise<Readonly<Record<string, unknown>>> {
  return eventually('the erasure to be done', async () => {
    const view = (await weir.must(200, 'GET', `/erasures/${erasureId}`)) as { phase: string; problem: string | null };
    if (view.phase !== 'done') throw new Error(`${view.phase}: ${view.problem}`);
    return view;
  });
}

async function person(site: string, query: Record<string, string>): Promise<Record<string, readonly object[]>> {
  const path = `/api/admin/sites/${site}/person?${new URLSearchParams(query)}`;
  const answer = await weir.send({ path, method: 'GET', headers: { authorization: `Bearer ${weir.adminToken}` } });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Record<string, readonly object[]>;
}

const hit = (site: string, visitor: string, session: string, pathname = '/') => ({
  site_id: site,
  visitor_id: visitor,
  session_id: session,
  type: 'pageview',
  pathname,
});

const collect = async (body: object) => {
  expect((await weir.collect(body, { 'user-agent': CHROME })).status).toBe(204);
};

async function shop() {
  const { site, key } = await weir.createSiteWithKey();
  for (const who of ['anna', 'bob']) {
    await collect(hit(site, `${who}-phone`, `${who}-session`, '/a'));
    await collect(hit(site, `${who}-laptop`, `${who}-laptop-session`, '/b'));
    await weir.events(key, { name: 'on-phone', visitor_id: `${who}-phone` });
    for (const device of ['phone', 'laptop']) {
      const identity = {
        visitor_id: `${who}-${device}`,
        user_id: `user-${who}`,
        email: `${who}@example.com`,
        plan: who,
      };
      await weir.identify(key, { ...identity, payment_customer_id: `cus-${who}` });
    }
    await weir.events(key, { name: 'by-user', user_id: `user-${who}`, idempotency_key: `key-${who}` });
    const properties = { currency: 'EUR', payment_customer_id: `cus-${who}` };
    await weir.events(key, { name: 'payment', value: '19.90', properties });
  }
  await weir.settled();
  return { site, key };
}

describe('forgetting a user', () => {
  test('removes all of it from every table, and nothing of others; the audit balances', async () => {
    const { site, key } = await shop();
    const anna = profileIdOf(await weir.identify(key, { user_id: 'user-anna', visitor_id: 'anna-phone' }));
    await weir.settled();
    const before = await others(site, 'anna', anna);
    const exported = await person(site, { user_id: 'user-anna' });
    expect(exported.records?.map((row) => JSON.stringify(row))).toHaveLength(8);
    expect(JSON.stringify(exported)).not.toContain('bob');
    for (const name of ['sessions', 'profiles', 'links', 'payment_customers', 'payments']) {
      expect(exported[name]?.length).toBeGreaterThan(0);
    }

    const receipt = await forget(site, { users: ['user-anna'] });
    expect(receipt).toMatchObject({ users: 1, visitors: 0, problem: null, removed: { records: 8 } });
    expect(await others(site)).toEqual(before);
    expect(await person(site, { user_id: 'user-anna' })).toMatchObject({ records: [], sessions: [], profiles: [] });
    const erased =
      "SELECT * EXCEPT (received_at, timestamp) FROM records WHERE site_id = {site:String} AND outcome = 'erased'";
    const rows = await weir.sql(erased, { site });
    expect(rows.length).toBe(8);
    expect(JSON.stringify(rows)).not.toContain('anna');
    const audit = (await weir.must(200, 'GET', '/audit')) as {
      balanced: boolean;
      sites: { site_id: string; erased: number }[];
    };
    expect(audit.balanced).toBe(true);
    expect(audit.sites.find(({ site_id }) => site_id === site)).toMatchObject({ erased: 8, stored: 5, identify: 2 });
    const books =
      'SELECT outcome, sum(records) AS n FROM books WHERE site_id = {site:String} GROUP BY outcome HAVING n != 0 ORDER BY outcome';
    expect(await weir.sql(books, { site })).toEqual([
      { outcome: 'erased', n: 8 },
      { outcome: 'identify', n: 2 },
      { outcome: 'row', n: 5 },
    ]);
  });

  test('what comes later is a new life, also with an idempotency key of the old one', async () => {
    const { site, key } = await shop();
    await forget(site, { users: ['user-anna'] });
    const event = { name: 'again', user_id: 'user-anna', idempotency_key: 'key-anna' };
    expect((await weir.events(key, event)).status).toBe(202);
    await collect(hit(site, 'anna-phone', 'anna-session', '/again'));
    await weir.settled();
    const rows = await weir.sql(
      "SELECT event_name, visitor_id, profile_id FROM events WHERE site_id = {site:String} AND (user_id = 'user-anna' OR visitor_id = 'anna-phone') ORDER BY event_name",
      { site },
    );
    expect(rows).toEqual([
      { event_name: '', visitor_id: 'anna-phone', profile_id: expect.any(String) },
      { event_name: 'again', visitor_id: '', profile_id: expect.any(String) },
    ]);
    expect(
      await weir.sql("SELECT pageviews FROM sessions WHERE site_id = {site:String} AND session_id = 'anna-session'", {
        site,
      }),
    ).toEqual([{ pageviews: 1 }]);
    await forget(site, { users: ['user-anna'] });
    expect(
      await weir.number("SELECT count() FROM events WHERE site_id = {site:String} AND user_id = 'user-anna'", { site }),
    ).toBe(0);
    // The visitor is not linked to the user any more.
    expect(
      await weir.number("SELECT count() FROM events WHERE site_id = {site:String} AND visitor_id = 'anna-phone'", {
        site,
      }),
    ).toBe(1);
  });

  test('of a device that two users shared, only the time of the user goes', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const event = (name: string, fields: object = {}) =>
      weir.events(key, { name, visitor_id: 'tablet', session_id: 's', ...fields });
    await weir.identify(key, { visitor_id: 'tablet', user_id: 'bob' });
    await event('of-bob');
    await weir.identify(key, { visitor_id: 'tablet', user_id: 'anna' });
    await event('of-anna');
    await event('named-bob', { user_id: 'bob' });
    await weir.identify(key, { visitor_id: 'tablet', user_id: 'bob', plan: 'pro' });
    await event('of-bob-again');
    await weir.settled();
    await forget(site, { users: ['anna'] });
    const names = await weir.sql('SELECT event_name FROM events WHERE site_id = {site:String} ORDER BY event_name', {
      site,
    });
    expect(names.map((row) => row.event_name)).toEqual(['named-bob', 'of-bob', 'of-bob-again']);
    expect(
      await weir.sql('SELECT user_id, visitor_ids, traits.plan AS plan FROM profiles WHERE site_id = {site:String}', {
        site,
      }),
    ).toEqual([{ user_id: 'bob', visitor_ids: ['tablet'], plan: 'pro' }]);
  });
});

test('forgetting a visitor keeps what its user said elsewhere', async () => {
  const { site } = await shop();
  const before = await others(site, 'anna');
  const receipt = await forget(site, { visitors: ['anna-phone'] });
  expect(receipt).toMatchObject({ visitors: 1, users: 0 });
  expect(await others(site, 'anna')).toEqual(before);
  expect(
    await weir.number("SELECT count() FROM records WHERE site_id = {site:String} AND visitor_id = 'anna-phone'", {
      site,
    }),
  ).toBe(0);
  const profile = "SELECT email, visitor_ids FROM profiles WHERE site_id = {site:String} AND user_id = 'user-anna'";
  expect(await weir.sql(profile, { site })).toEqual([{ email: 'anna@example.com', visitor_ids: ['anna-laptop'] }]);
});

describe('hostile requests', () => {
  test('unknown persons, strange names, the same request twice and two at once', async () => {
    const { site, key } = await shop();
    const before = await others(site);
    const strange = [`o'brien"\\`, '😀', "'); DROP TABLE records; --", 'ü'.repeat(255), '\u0000', '{x:String}', 'a\tb'];
    await forget(site, { users: strange, visitors: ['unknown'] });
    expect(await others(site)).toEqual(before);
    for (const user of strange.filter((name) => name !== '\u0000')) {
      expect((await weir.events(key, { name: 'strange', user_id: user })).status).toBe(202);
    }
    await weir.settled();
    await Promise.all([
      forget(site, { users: strange }),
      forget(site, { users: strange }),
      forget(site, { users: ['user-bob'] }),
    ]);
    expect(
      await weir.number("SELECT count() FROM events WHERE site_id = {site:String} AND event_name = 'strange'", {
        site,
      }),
    ).toBe(0);
    expect((await others(site)).filter((row) => row.includes('bob'))).toEqual([]);
    await weir.balanced();
  });

  test.each([
    ['no person', {}],
    ['no users', { users: [] }],
    ['an empty user ID', { users: [''] }],
    ['a number', { users: [7] }],
    ['a user ID of 65,536 chars', { users: ['u'.repeat(65_536)] }],
    ['a user ID of 257 chars', { users: ['😀'.repeat(257)] }],
    ['a visitor ID of 65 chars', { visitors: ['v'.repeat(65)] }],
    ['10,001 persons', { users: Array.from({ length: 5_001 }, (_, n) => `u${n}`), visitors: Array(5_000).fill('v') }],
    ['a user and the whole site', { all: true, users: ['u'] }],
    ['an unknown field', { user: ['u'] }],
  ])('%s is 400', async (_, body) => {
    const site = await weir.createSite();
    expect((await weir.admin('POST', `/sites/${site}/erasures`, body)).status).toBe(400);
  });

  test('an unknown site and an unknown erasure are 404', async () => {
    expect((await weir.admin('POST', '/sites/nowhere/erasures', { users: ['u'] })).status).toBe(404);
    expect((await weir.admin('GET', '/erasures/nothing')).status).toBe(404);
    expect((await weir.admin('GET', '/sites/nowhere/person?user_id=u')).status).toBe(404);
  });
});

test('all of a site that stays is forgotten while records come in', async () => {
  const { site, key } = await shop();
  let sent = 0;
  let stop = false;
  const traffic = (async () => {
    for (; !stop; sent++) {
      // Some hits continue a session that began before the erasure, the others begin new sessions during the erasure.
      await collect(hit(site, 'live-visitor', sent % 20 === 0 ? 'anna-session' : `live-${sent}`, `/${sent}`));
      await weir.events(key, { name: 'paid', value: '1', visitor_id: 'live-visitor', properties: { currency: 'EUR' } });
    }
  })();
  const { received_until: until } = await forget(site, { all: true });
  stop = true;
  await traffic;
  await weir.settled();
  const kept =
    'SELECT countIf(received_at > {until:DateTime64(3)}) AS later, count() AS n FROM events WHERE site_id = {site:String}';
  const [rows] = await weir.sql(kept, { site, until: String(until).replace('T', ' ').replace('Z', '') });
  expect(rows?.later).toBe(rows?.n);
  const counts = "session_id, countIf(type = 'pageview') AS pageviews, countIf(type = 'event') AS events";
  const ofRecords = `SELECT ${counts} FROM events WHERE site_id = {site:String} AND bot = '' GROUP BY session_id HAVING pageviews > 0 ORDER BY session_id`;
  const ofSessions =
    'SELECT session_id, pageviews, events FROM sessions WHERE site_id = {site:String} ORDER BY session_id';
  const sessions = await weir.sql(ofSessions, { site });
  expect(sessions.map((row) => row.session_id)).toContain('anna-session');
  expect(sessions).toEqual(await weir.sql(ofRecords, { site }));
  const paid = "SELECT count() FROM events WHERE site_id = {site:String} AND event_name = 'paid'";
  expect(await weir.number('SELECT count() FROM payments WHERE site_id = {site:String}', { site })).toBe(
    await weir.number(paid, { site }),
  );
  expect(await weir.sql('SELECT * FROM profiles WHERE site_id = {site:String}', { site })).toEqual([]);
  await weir.balanced();
});

test('a removed site is forgotten, and starts empty when it is made again', async () => {
  const { site, key } = await shop();
  await weir.events(key, { name: 'keyed', idempotency_key: 'once' });
  await weir.settled();
  const { erasure_id } = (await weir.must(200, 'DELETE', `/sites/${site}`)) as { erasure_id: string };
  await done(erasure_id);
  expect(await others(site)).toEqual([]);
  expect(await weir.sql('SELECT DISTINCT outcome FROM records WHERE site_id = {site:String}', { site })).toEqual([
    { outcome: 'erased' },
  ]);
  expect(await weir.createSite({ site_id: site })).toBe(site);
  const { key: newKey } = await weir.createKey(site);
  expect((await weir.events(newKey, { name: 'keyed', idempotency_key: 'once' })).status).toBe(202);
  await weir.rows('events', site, 1);
  await weir.balanced();
});
