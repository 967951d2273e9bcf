import { hash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { batch, openEmbeddedOn, type RowFields, T0 } from './clickhouse-harness.ts';

const FOLDER = join(__dirname, '../../../../schemas/clickhouse');
const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;
const KILLS = 6;
const VISITORS = 300;
const SITES = ['all', 'limited'] as const;

let dataDir: string;
let oldFolder: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-upgraded-'));
  oldFolder = mkdtempSync(join(tmpdir(), 'weir-migrations-'));
  for (const file of readdirSync(FOLDER).filter((name) => !name.endsWith('.sql') || name < '016'))
    copyFileSync(join(FOLDER, file), join(oldFolder, file));
});
afterAll(() => {
  rmSync(dataDir, { recursive: true });
  rmSync(oldFolder, { recursive: true });
});

/** The session ID that the enricher computes for a session of this visitor that starts in the half hour of `start`. */
const madeId = (site: string, visitor: string, start: number): string =>
  `s_${hash('sha256', `${site}\0${visitor}\0${Math.floor(start / HALF_HOUR_MS)}`, 'hex').slice(0, 32)}`;

/**
 * The rows of a visitor: two sessions, the session `named-…` with rows of different kinds, and a server event with another session ID. For every
 * third visitor, a late hit joins the first two sessions.
 */
function rowsOf(site: string, nth: number): readonly RowFields[] {
  const visitor = `v${nth}`;
  const start = T0 + nth * 7 * MINUTE_MS;
  const first = madeId(site, visitor, start);
  const hit = (minutes: number, pathname: string, fields: RowFields = {}): RowFields => {
    const at = start + minutes * MINUTE_MS;
    const own = { site_id: site, visitor_id: visitor, session_id: first, timestamp: at, received_at: at };
    return { ...own, pathname, channel: `Channel ${nth % 5}`, country: 'DE', ...fields };
  };
  const named = { session_id: `named-${nth}` };
  return [
    hit(0, '/a'),
    hit(10, '/b'),
    hit(60, '/c', { session_id: madeId(site, visitor, start + 60 * MINUTE_MS) }),
    ...(nth % 3 === 0
      ? [hit(35, '/late', { detail: '{"session_moved":true}' }), hit(70, '/d')]
      : [hit(80, '/d', { session_id: madeId(site, visitor, start + 60 * MINUTE_MS) })]),
    hit(600, '/shop', { ...named, type: 'event', event_name: 'search', utm_source: 'a\0b' }),
    hit(601, '/shop', named),
    hit(602, '/paid', { ...named, source: 'server', type: 'event', event_name: 'paid' }),
    hit(603, '/shop', { ...named, type: 'event', event_name: '$engagement' }),
    hit(604, '/bot', { ...named, bot: 'Googlebot' }),
    hit(700, '/paid', { session_id: `server-${nth}`, source: 'server', type: 'event', event_name: 'paid' }),
  ];
}

test('016: all sessions are as before, also those of expired rows, after kills during the migration and with inserts meanwhile', async () => {
  const { clickhouse, analytics, close } = await openEmbeddedOn(dataDir);
  const before = openClickhouseAnalytics({ ...clickhouse, migrationsDir: oldFolder });
  await before.migrate();
  let next = 0;
  for (const site of SITES) {
    const rows = Array.from({ length: VISITORS }, (_, nth) => rowsOf(site, nth)).flat();
    await analytics.insertRecords(batch(next, rows));
    next += rows.length;
  }
  // In the site `limited`, all rows before minute 705 have expired. So some sessions of the first hundred visitors have lost all of their rows, and
  // other sessions some of their rows.
  const expired = `site_id = 'limited' AND outcome = 'row' AND timestamp < fromUnixTimestamp64Milli(${T0 + 705 * MINUTE_MS})`;
  const kept = 'site_id, received_at, outcome, reason, rule_id, enrichment, log_id, raw_partition, raw_offset';
  await analytics.change(
    `INSERT INTO expirations (${kept}, happened_at, expired_as) SELECT ${kept}, timestamp, 'events' FROM records WHERE ${expired}`,
  );
  await analytics.change(`ALTER TABLE records DELETE WHERE ${expired}`);

  const columns = (await analytics.select<{ name: string }>('DESCRIBE TABLE sessions')).map(({ name }) => name);
  const sessions = () =>
    analytics.select(
      `SELECT ${columns.join(', ')} FROM sessions WHERE site_id IN ('all', 'limited') ORDER BY site_id, session_id`,
    );
  const events = () =>
    analytics.select(
      "SELECT raw_offset, session_id FROM events WHERE site_id IN ('all', 'limited') ORDER BY raw_offset",
    );
  const types = () => analytics.select('DESCRIBE TABLE sessions');
  const wanted = { sessions: await sessions(), events: await events(), types: await types() };
  expect(wanted.sessions.length).toBeGreaterThan(SITES.length * VISITORS * 2);

  let stored = 0;
  let migrated = false;
  const insertAll = async (): Promise<void> => {
    for (let planned = batch(next, [{ site_id: 'live', session_id: 'one' }]); !migrated; ) {
      try {
        await analytics.insertRecords(planned);
        stored++;
        next++;
        planned = batch(next, [{ site_id: 'live', session_id: 'one' }]);
      } catch (error) {
        if (!isDependencyError(error)) throw error;
        await clickhouse.ready();
      }
    }
  };
  const inserting = insertAll();
  for (let kill = 0; kill < KILLS; kill++) {
    const migrating = analytics.migrate().catch((error: unknown) => error);
    await pause(Math.random() * 150); // the engine is killed at a random moment of the migration
    const pid = clickhouse.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await migrating;
    await eventually('the engine answers again', () => clickhouse.ready().then(() => true));
  }
  await eventually('the migration', () => analytics.migrate().then(() => true));
  migrated = true;
  await inserting;

  expect(await sessions()).toEqual(wanted.sessions);
  expect(await events()).toEqual(wanted.events);
  expect(await types()).toEqual(wanted.types);
  expect(await analytics.select("SELECT toUInt32(pageviews) AS hits FROM sessions WHERE site_id = 'live'")).toEqual([
    { hits: stored },
  ]);
  const audit = `SELECT uniqExact(raw_offset) = ${next} AS complete, (SELECT sum(records) FROM books) = ${next} AS balanced FROM records`;
  expect(await analytics.select(audit)).toEqual([{ complete: 1, balanced: 1 }]);
  const left =
    "SELECT name FROM system.tables WHERE database = 'weir' AND name IN ('session_fragments', 'sessions_moved')";
  expect(await analytics.select(left)).toEqual([]);
  await before.close();
  await close();
}, 300_000);
