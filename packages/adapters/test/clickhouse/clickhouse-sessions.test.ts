import { madeSessionId } from '@weir/domain/records/made-session';
import { batch, T0, useClickhouse } from './clickhouse-harness.ts';

let next = 0;
const opened = useClickhouse();

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

test('a late hit joins two sessions of its site, and changes no session of another site with the same IDs', async () => {
  const ids = [0, 40].map((minutes) => madeSessionId('joined', 'v', at(minutes)));
  const visit = (site_id: string, fields: object) => [
    { site_id, visitor_id: 'v', session_id: ids[0], timestamp: at(0), pathname: '/1' },
    { site_id, visitor_id: 'v', session_id: ids[0], timestamp: at(20), pathname: '/2', ...fields },
    { site_id, visitor_id: 'v', session_id: ids[1], timestamp: at(40), pathname: '/3' },
  ];
  const late = { detail: '{"session_moved":true}' };
  // `joined-copy` has session IDs that were computed for another site, as after the import of a dump. Its joined session gets an ID for this site.
  await insert(...visit('joined', late), ...visit('joined-copy', late), ...visit('apart', {}));
  const idsOf = async (site: string): Promise<unknown> => {
    const query = (table: string) =>
      `SELECT DISTINCT session_id FROM ${table} WHERE site_id = {site:String} ORDER BY session_id`;
    const [sessions, events] = await Promise.all(
      ['sessions', 'events'].map((table) => opened.analytics.userQuery(query(table), { site })),
    );
    expect(events?.rows).toEqual(sessions?.rows);
    return sessions?.rows.map((row) => row.session_id);
  };
  expect(await idsOf('joined')).toEqual([ids[0]]);
  expect(await idsOf('joined-copy')).toEqual([madeSessionId('joined-copy', 'v', at(0))]);
  expect(await idsOf('apart')).toEqual(ids.toSorted());
});
