import { batch, type ClickhouseUnderTest, openClickhouseUnderTest, T0 } from './clickhouse-harness.ts';

let opened: ClickhouseUnderTest;
let next = 0;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
});
afterAll(() => opened.close());

async function insert(...rows: Parameters<typeof batch>[1]): Promise<void> {
  await opened.analytics.insertRecords(batch(next, rows));
  next += rows.length;
}

const COLUMNS = 'session_id, duration_seconds, pageviews, events, entry_path, exit_path, is_bounce, country';
const sessionsOf = async (site: string): Promise<unknown> =>
  (await opened.analytics.userQuery(`SELECT ${COLUMNS} FROM sessions WHERE site_id = {site:String}`, { site })).rows;
const at = (minutes: number): number => T0 + minutes * 60_000;

describe('server events join a session and never start or extend one', () => {
  const server = { source: 'server', type: 'event', event_name: 'paid', pathname: '/server', country: 'US' };

  test('a server event with an unknown session ID creates no session', async () => {
    await insert({ site_id: 'none', session_id: 'made-up', ...server });
    expect(await sessionsOf('none')).toEqual([]);
  });

  test.each([
    ['before', [-60, 60], 0],
    ['after', [60, -60], 0],
  ])(
    'a server event that arrives %s the visit is counted, and nothing else changes',
    async (order, minutes, visitAt) => {
      const row = { site_id: order, session_id: 's', country: 'DE' };
      const visit = [
        { ...row, timestamp: at(visitAt), pathname: '/in' },
        { ...row, timestamp: at(visitAt + 2), pathname: '/out' },
      ];
      const events = minutes.map((minute) => ({ ...row, ...server, timestamp: at(minute) }));
      for (const one of order === 'before' ? [events, visit] : [visit, events]) await insert(...one);
      expect(await sessionsOf(order)).toEqual([
        {
          session_id: 's',
          duration_seconds: 120,
          pageviews: 2,
          events: 2,
          entry_path: '/in',
          exit_path: '/out',
          is_bounce: 0,
          country: 'DE',
        },
      ]);
    },
  );
});

describe('$engagement is not included in the counts of events', () => {
  const engagement = { type: 'event', event_name: '$engagement', pathname: '/in' };

  test('$engagement extends a visit but is not counted: the visit is still a bounce', async () => {
    const row = { site_id: 'engaged', session_id: 's', country: 'DE' };
    await insert(
      { ...row, ...engagement, timestamp: at(1), country: 'US' },
      { ...row, timestamp: at(0), pathname: '/in' },
    );
    expect(await sessionsOf('engaged')).toEqual([
      {
        session_id: 's',
        duration_seconds: 60,
        pageviews: 1,
        events: 0,
        entry_path: '/in',
        exit_path: '/in',
        is_bounce: 1,
        country: 'DE',
      },
    ]);
  });

  test('$engagement alone creates no session', async () => {
    await insert({ site_id: 'alone', session_id: 's', ...engagement });
    expect(await sessionsOf('alone')).toEqual([]);
  });
});
