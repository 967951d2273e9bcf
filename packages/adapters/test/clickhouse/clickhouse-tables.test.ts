import { batch, identify, T0, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

const query = async (sql: string): Promise<unknown> => (await opened.analytics.userQuery(sql, {})).rows;
let next = 0;
async function insert(...rows: Parameters<typeof batch>[1]): Promise<void> {
  const planned = batch(next, rows);
  next += rows.length;
  await opened.analytics.insertRecords(planned);
  await opened.analytics.insertRecords(planned);
}

describe('docs/tables.md, events', () => {
  it('arrays with several types keep their values', async () => {
    const properties = { list: ['sku-1', true, 'red'], mixed: ['x', 1, 2.5, null, false] };
    await insert({ site_id: 'a', properties });
    const sql = "SELECT toString(properties) AS text FROM events WHERE site_id = 'a'";
    expect(await query(sql)).toEqual([{ text: JSON.stringify(properties) }]);
  });

  it('"`properties.plan` works in SQL"', async () => {
    await insert({
      site_id: 'p',
      properties: { plan: 'pro', 'a.b': 1, a: { b: 2 }, __proto__x: 1, '': 0 },
    });
    expect(
      await query("SELECT properties.plan AS plan, toString(properties.a.b) AS b FROM events WHERE site_id = 'p'"),
    ).toEqual([{ plan: 'pro', b: '1' }]);
  });

  it('stores any text', async () => {
    const text = 'nul \u0000 quote " back \\ line \n emoji 😀 lone \ud800 end';
    await insert({
      site_id: 't',
      event_name: text,
      value_text: text,
      properties: { text: text.toWellFormed(), at: '2026-01-02T03:04:05Z' },
    });
    const rows = await query(
      "SELECT event_name = value_text AS same, position(event_name, '😀') > 0 AS found, properties.at AS at FROM events WHERE site_id = 't'",
    );
    expect(rows).toEqual([{ same: 1, found: 1, at: '2026-01-02T03:04:05Z' }]);
  });

  it('profile_id is the last identified user of the visitor, resolved by the query, also for earlier events', async () => {
    await insert(
      { site_id: 'i', visitor_id: 'v1' },
      { site_id: 'i', visitor_id: 'v2' },
      { site_id: 'i', visitor_id: '' },
    );
    const profiles = 'SELECT visitor_id, profile_id FROM events WHERE site_id = {site:String} ORDER BY visitor_id';
    const rows = async (): Promise<unknown> => (await opened.analytics.userQuery(profiles, { site: 'i' })).rows;
    expect(await rows()).toEqual([
      { visitor_id: '', profile_id: '' },
      { visitor_id: 'v1', profile_id: '' },
      { visitor_id: 'v2', profile_id: '' },
    ]);
    await insert(
      identify({ profile_id: 'p-b', user_id: 'b' }, { site_id: 'i', visitor_id: 'v1', received_at: T0 + 5000 }),
    );
    // An older identify that arrives later changes nothing: only the identify with the latest time of receipt counts.
    await insert(
      identify({ profile_id: 'p-a', user_id: 'a' }, { site_id: 'i', visitor_id: 'v1', received_at: T0 + 4000 }),
    );
    expect(await rows()).toEqual([
      { visitor_id: '', profile_id: '' },
      { visitor_id: 'v1', profile_id: 'p-b' },
      { visitor_id: 'v2', profile_id: '' },
    ]);
    expect(await query("SELECT count() AS n FROM events WHERE site_id = 'i' AND profile_id = 'p-b'")).toEqual([
      { n: 1 },
    ]);
    expect(await query("SELECT visitor_ids FROM profiles WHERE site_id = 'i' AND profile_id = 'p-a'")).toEqual([
      { visitor_ids: [] },
    ]);
    expect(await query("SELECT visitor_ids FROM profiles WHERE site_id = 'i' AND profile_id = 'p-b'")).toEqual([
      { visitor_ids: ['v1'] },
    ]);
  });
});

describe('docs/tables.md, sessions', () => {
  it('do not depend on the order of the batches', async () => {
    const at = (seconds: number): number => T0 + seconds * 1000;
    const row = { site_id: 's', session_id: 's1', visitor_id: 'v1' };
    await insert({ ...row, timestamp: at(60), pathname: '/last', country: 'US' });
    await insert({ ...row, timestamp: at(90), type: 'event', event_name: 'buy', pathname: '/buy' });
    await insert({ ...row, timestamp: at(0), pathname: '/first', country: 'DE', channel: 'Direct', utm_source: 'x' });
    await insert(
      { ...row, timestamp: at(30), pathname: '/middle' },
      { ...row, timestamp: at(999), bot: 'Googlebot' },
      { ...row, session_id: '' },
      { ...row, session_id: 's2', pathname: '/only' },
    );
    const columns =
      'session_id, visitor_id, duration_seconds, pageviews, events, entry_path, exit_path, is_bounce, country, channel, utm_source';
    expect(await query(`SELECT ${columns} FROM sessions WHERE site_id = 's' ORDER BY session_id`)).toEqual([
      {
        session_id: 's1',
        visitor_id: 'v1',
        duration_seconds: 90,
        pageviews: 3,
        events: 1,
        entry_path: '/first',
        exit_path: '/last',
        is_bounce: 0,
        country: 'DE',
        channel: 'Direct',
        utm_source: 'x',
      },
      expect.objectContaining({
        session_id: 's2',
        pageviews: 1,
        is_bounce: 1,
        entry_path: '/only',
        exit_path: '/only',
      }),
    ]);
  });
});

it('column types do not show the storage format', async () => {
  const types = (await query(
    "SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND type LIKE '%AggregateFunction%'",
  )) as readonly { readonly table: string }[];
  expect(types.length).toBeGreaterThan(5);
  const pages = ['events', 'sessions', 'profiles', 'payment_customers', 'outcomes', 'dead_letters', 'payments'];
  expect(types.filter(({ table }) => pages.includes(table))).toEqual([]);
});

it('duration_seconds counts whole elapsed seconds', async () => {
  const hit = { site_id: 'w', visitor_id: 'v' };
  await insert(
    { ...hit, session_id: 'short', timestamp: T0 + 984 },
    { ...hit, session_id: 'short', timestamp: T0 + 1012 },
    { ...hit, session_id: 'long', timestamp: T0 + 984 },
    { ...hit, session_id: 'long', timestamp: T0 + 2983 },
  );
  expect(await query("SELECT session_id, duration_seconds FROM sessions WHERE site_id = 'w' ORDER BY 1")).toEqual([
    { session_id: 'long', duration_seconds: 1 },
    { session_id: 'short', duration_seconds: 0 },
  ]);
});

describe('docs/api.md, POST /api/identify: fields that are sent replace the stored ones, and fields that are not sent stay', () => {
  it('the latest value of each field and trait wins, and null removes a trait', async () => {
    const row = { site_id: 'm', visitor_id: 'v1' };
    await insert({ site_id: 'm', visitor_id: 'v1', timestamp: T0 - 1000 });
    await insert(
      identify(
        { profile_id: 'p', user_id: 'u', email: 'new@x.y', traits: { plan: 'pro', age: null } },
        { ...row, received_at: T0 + 200_000 },
      ),
    );
    await insert(
      identify(
        {
          profile_id: 'p',
          user_id: 'u',
          email: 'old@x.y',
          name: 'N',
          traits: { plan: 'free', age: 5, kept: true, n: 1.5 },
          payment_customer_id: 'cus_1',
        },
        { ...row, visitor_id: 'v2', received_at: T0 + 100_000 },
      ),
    );
    expect(
      await query(
        "SELECT * EXCEPT (visitor_ids), arraySort(visitor_ids) AS visitor_ids FROM profiles WHERE site_id = 'm'",
      ),
    ).toEqual([
      {
        site_id: 'm',
        profile_id: 'p',
        user_id: 'u',
        email: 'new@x.y',
        name: 'N',
        image: '',
        traits: { kept: true, n: 1.5, plan: 'pro' },
        visitor_ids: ['v1', 'v2'],
        first_seen_at: '2026-04-30 23:59:59.000',
        last_seen_at: '2026-05-01 00:03:20.000',
      },
    ]);
    expect(await query("SELECT traits.plan AS plan FROM profiles WHERE site_id = 'm'")).toEqual([{ plan: 'pro' }]);
    expect(
      await query("SELECT payment_customer_id, visitor_id, profile_id FROM payment_customers WHERE site_id = 'm'"),
    ).toEqual([{ payment_customer_id: 'cus_1', visitor_id: 'v2', profile_id: 'p' }]);
  });
});

describe('docs/tables.md, outcomes and dead_letters', () => {
  it('outcomes and events together contain each raw offset exactly once, and dead_letters lists dead letters', async () => {
    const detail = JSON.stringify({
      topic: 'events.raw',
      partition: 0,
      offset: 7,
      stage: 'decode',
      error: 'E',
      payload: '{"a":1}',
    });
    await insert(
      { site_id: 'd', outcome: 'dropped', reason: 'excluded_ip' },
      { site_id: 'd', outcome: 'duplicate' },
      { site_id: 'd', outcome: 'dead', reason: 'unreadable', detail },
    );
    expect(await query("SELECT outcome, reason FROM outcomes WHERE site_id = 'd' ORDER BY outcome")).toEqual([
      { outcome: 'dead', reason: 'unreadable' },
      { outcome: 'dropped', reason: 'excluded_ip' },
      { outcome: 'duplicate', reason: '' },
    ]);
    const letter = {
      site_id: 'd',
      topic: 'events.raw',
      partition: 0,
      offset: 7,
      stage: 'decode',
      error: 'E',
      payload: '{"a":1}',
      failed_at: expect.any(String),
      redriven_at: null,
      reason: 'unreadable',
      log_id: 'log-1',
      raw_partition: 0,
      raw_offset: next - 1,
      attempts: 0,
      failed_offset: next - 1,
    };
    expect(await query("SELECT * FROM dead_letters WHERE site_id = 'd'")).toEqual([letter]);
    const audit =
      'SELECT count() AS records, uniqExact(raw_offset) AS offsets FROM (SELECT raw_offset FROM events UNION ALL SELECT raw_offset FROM outcomes)';
    expect(await query(audit)).toEqual([{ records: next, offsets: next }]);
    expect(await query('SELECT sum(records) AS n FROM books')).toEqual([{ n: next }]);
  });
});
