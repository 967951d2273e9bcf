import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { mustRunWeir, startWeir, type WeirProcess } from '@weir/testkit/weir-process';

const EVENTS_AT_ONCE = 20;
const VISITORS = 50;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const folders: string[] = [];

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-backup-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Sends events until `stop` is called. `accepted` collects the names of the accepted events. */
function sendEvents(weir: WeirProcess, key: string): { accepted: string[]; stop(): Promise<void> } {
  const accepted: string[] = [];
  let stopped = false;
  const senders = Array.from({ length: EVENTS_AT_ONCE }, async () => {
    while (!stopped) {
      const name = randomUUID();
      const nth = accepted.length % VISITORS;
      const body = { name, visitor_id: `visitor-${nth}`, user_id: `user-${nth}`, idempotency_key: name };
      if ((await weir.client.events(key, body)).status === 202) accepted.push(name);
    }
  });
  return {
    accepted,
    async stop() {
      stopped = true;
      await Promise.all(senders);
    },
  };
}

const ROWS = 'SELECT * EXCEPT (log_id) FROM events WHERE raw_offset < {end:UInt64} ORDER BY raw_partition, raw_offset';
const SESSIONS = 'SELECT count() AS sessions, sum(pageviews + events) AS hits FROM sessions';
/** The same two numbers as `SESSIONS`, computed from `events`. */
const SESSIONS_OF_EVENTS =
  "SELECT uniqExact(session_id) AS sessions, count() AS hits FROM events WHERE session_id != ''";

test('a backup under load, restored into an empty folder: the same rows, and a balanced audit', async () => {
  const place = makeFolder();
  const original = await startWeir({ env: { RATE_LIMIT_EVENTS: '1000000' } });
  const { site, key } = await original.client.createSiteWithKey();
  await original.client.keyKnown(key);
  for (let nth = 0; nth < VISITORS; nth++) {
    const ids = { site_id: site, visitor_id: `visitor-${nth}`, session_id: `session-${nth}` };
    const page = { ...ids, type: 'pageview', url: 'https://example.com/' };
    expect((await original.client.collect(page, { 'user-agent': FIREFOX })).status).toBe(204);
  }
  const load = sendEvents(original, key);
  await eventually('many events are accepted', () => load.accepted.length > 2_000);
  const acceptedBefore = [...load.accepted];
  await mustRunWeir(original.client, 'backup', 'create', place);
  await eventually('more events are accepted', () => load.accepted.length > acceptedBefore.length + 500);
  const acceptedBeforeSecond = [...load.accepted];
  const second = JSON.parse(await mustRunWeir(original.client, 'backup', 'create', place, '--json')) as {
    bytes_done: number;
    bytes_stored: number;
  };
  expect(second.bytes_stored).toBeLessThan(second.bytes_done);
  await load.stop();
  // The rows of each restored Weir are compared with those of this one, so all of them must be stored.
  await original.client.settled();

  for (const [id, accepted] of [
    [(await mustRunWeir(original.client, 'backup', 'list', place)).split('\n')[0] as string, acceptedBefore],
    [undefined, acceptedBeforeSecond],
  ] as const) {
    const chosen = id === undefined ? [] : ['--id', id];
    await mustRunWeir(original.client, 'backup', 'verify', place, ...chosen);
    const folder = join(makeFolder(), 'restored');
    await mustRunWeir(original.client, 'backup', 'restore', place, folder, ...chosen);
    const restored = await startWeir({ dataDir: folder, env: { RATE_LIMIT_EVENTS: '1000000' } });
    try {
      const { client } = restored;
      await eventually('everything is stored', async () => {
        const audit = (await client.must(200, 'GET', '/audit')) as { balanced: boolean; totals: { in_flight: number } };
        return audit.balanced && audit.totals.in_flight === 0;
      });
      // The restored Weir has each event that was accepted before the backup exactly once, and its rows are equal to the original rows.
      const end = await client.number('SELECT max(raw_offset) + 1 AS end FROM records');
      const rows = await client.sql(ROWS, { end });
      const names = rows.map(({ event_name }) => event_name).filter((name) => name !== '');
      expect(names).toHaveLength(new Set(names).size);
      expect(new Set(names)).toEqual(new Set([...names, ...accepted]));
      expect(rows).toEqual(await original.client.sql(ROWS, { end }));
      const [sessions] = await client.sql(SESSIONS);
      expect(sessions?.sessions).toBe(VISITORS);
      expect(sessions).toEqual((await client.sql(SESSIONS_OF_EVENTS))[0]);
      if (id !== undefined) continue;
      // For the restored Weir, a repeat of an accepted event is still a duplicate. A new event is stored.
      const repeated = accepted.at(-1) as string;
      await client.events(key, { name: repeated, idempotency_key: repeated });
      expect((await client.events(key, { name: 'after the restore' })).status).toBe(202);
      await eventually(
        'the new event is stored',
        async () =>
          (await client.sql("SELECT 1 AS one FROM events WHERE event_name = 'after the restore'")).length === 1,
      );
      expect(await client.sql(`SELECT count() AS rows FROM events WHERE event_name = '${repeated}'`)).toEqual([
        { rows: 1 },
      ]);
    } finally {
      await restored.stop();
    }
  }
  await original.stop();
}, 300_000);

test('a kill during a backup leaves no snapshot, and the next backup is whole', async () => {
  const place = makeFolder();
  const weir = await startWeir({});
  const { key } = await weir.client.createSiteWithKey();
  await weir.client.keyKnown(key);
  for (let round = 0; round < 3; round++) {
    await weir.client.must(201, 'POST', '/backups', { to: `file://${place}` });
    // In the first two rounds, Weir is killed when the writer has paused for the backup. In the third round, it is killed as soon as the backup
    // has begun.
    if (round < 2)
      await eventually('the writer pauses', () => weir.output().split('writer: paused').length > round + 1);
    await weir.kill9();
    await weir.restart();
    expect((await weir.client.events(key, { name: `round ${round}` })).status).toBe(202);
    await eventually(
      'the event is stored',
      async () =>
        (await weir.client.sql(`SELECT 1 AS one FROM events WHERE event_name = 'round ${round}'`)).length === 1,
    );
  }
  await mustRunWeir(weir.client, 'backup', 'create', place);
  await mustRunWeir(weir.client, 'backup', 'verify', place);
  await weir.stop();
});
