import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateClickhouse } from '../../src/clickhouse/clickhouse-migrate.ts';
import {
  batch,
  type ClickhouseUnderTest,
  identify,
  openClickhouseUnderTest,
  type RowFields,
} from './clickhouse-harness.ts';

const FOLDER = join(__dirname, '../../../../schemas/clickhouse');
const MIGRATION = '027_rare_records.sql';
const VISIT = { session_id: 's_0', visitor_id: 'v' };
/** Not late, also if midnight passes during the test. */
const NOT_LATE = Date.now() + 3_600_000;
/** One record for each condition of a view on `rare_records`. T0 is an earlier day, so rows without a time of their own are late. */
const RARE: readonly RowFields[] = [
  VISIT,
  { ...VISIT, visit_stamp: 2, session_id: 's_1', timestamp: NOT_LATE },
  { ...VISIT, detail: '{"session_moved":true}', timestamp: NOT_LATE },
  { ...VISIT, detail: '{"session_moved":true,"redriven":{"log":"log-1","partition":0,"offset":2,"attempt":1,"at":5}}' },
  identify({ profile_id: 'p', user_id: 'u', email: 'a@b.example', payment_customer_id: 'c' }, { visitor_id: 'v' }),
  identify({ profile_id: 'p', user_id: 'u' }, { visitor_id: 'v', reason: 'unlink' }),
  { outcome: 'dead', detail: '{"topic":"events.raw","partition":0,"offset":4,"stage":"enricher"}' },
  { outcome: 'rejected', detail: '{"redriven":{"log":"log-1","partition":0,"offset":6,"attempt":1,"at":5}}' },
];
/** The tables that the views fill. `identified` and `identities` store nothing: `links_log` and `profile_values` are filled from them. */
const TABLES = [
  ...['links_latest', 'links_log', 'profiles_latest', 'profile_values', 'payment_links'],
  ...['visits_computed', 'moved_hours', 'dead_letter_attempts'],
];

let opened: ClickhouseUnderTest;
let folder: string;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  folder = mkdtempSync(join(tmpdir(), 'weir-migrations-'));
  for (const file of readdirSync(FOLDER)) {
    if (file.endsWith('.sql') && file < MIGRATION) copyFileSync(join(FOLDER, file), join(folder, file));
  }
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await opened.close();
});

const select = (query: string) => opened.analytics.select<Record<string, unknown>>(query);
const numberOf = async (query: string): Promise<number> => Number(Object.values((await select(query))[0] ?? {})[0]);
/** The content of each table: its rows as texts, without repeated rows, and without the time of the insert. */
async function contents(): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  for (const table of TABLES) {
    const columns = table === 'links_latest' ? '* EXCEPT (inserted_at)' : '*';
    const rows = `SELECT DISTINCT formatRow('JSONEachRow', ${columns}) AS row FROM ${table} ORDER BY row`;
    found[table] = (await select(rows)).map(({ row }) => row);
  }
  return found;
}

test('a former database gets the same tables from an insert that is repeated after the migration, and from later inserts', async () => {
  await migrateClickhouse({ ...opened.clickhouse, migrationsDir: folder }, 'weir');
  const first = batch(0, RARE);
  await opened.analytics.insertRecords(first);
  const before = await contents();
  for (const table of TABLES) expect([table, before[table]]).not.toEqual([table, []]);

  await opened.analytics.migrate();
  expect(await contents()).toEqual(before);
  // The writer repeats an insert if it was killed before it committed the offset.
  await opened.analytics.insertRecords(first);
  expect(await numberOf('SELECT count() FROM records')).toBe(RARE.length);
  expect(await contents()).toEqual(before);

  const another = { site_id: 'another' };
  await opened.analytics.insertRecords(
    batch(
      100,
      RARE.map((row) => ({ ...row, ...another })),
    ),
  );
  for (const [table, rows] of Object.entries(await contents())) {
    expect([table, (rows as unknown[]).length]).toEqual([table, 2 * (before[table] as unknown[]).length]);
  }
  expect(await select("SELECT sum(rows) AS n FROM late_rows WHERE site_id = 'another'")).toEqual([{ n: 2 }]);
  await opened.analytics.insertRecords(
    batch(
      100,
      RARE.map((row) => ({ ...row, ...another })),
    ),
  );
  expect(await select("SELECT sum(rows) AS n FROM late_rows WHERE site_id = 'another'")).toEqual([{ n: 2 }]);
});

test('a migration that was killed before it was recorded is repeated', async () => {
  const before = await contents();
  await opened.analytics.change(`ALTER TABLE schema_migrations DELETE WHERE name = '${MIGRATION}'`);
  await opened.analytics.migrate();
  expect(await contents()).toEqual(before);
  expect(await opened.analytics.drift()).toEqual([]);
});

test('each view selects from `rare_records` what it would select from `records`', async () => {
  const views = await select(
    "SELECT name, as_select AS sql FROM system.tables WHERE database = 'weir' AND engine = 'MaterializedView' AND position(as_select, 'FROM weir.rare_records') > 0",
  );
  expect(views).toHaveLength(6);
  const [rare] = await select(
    "SELECT as_select AS sql FROM system.tables WHERE database = 'weir' AND name = 'rare_records_fill'",
  );
  for (const { name, sql } of views) {
    const from = (source: string): string =>
      String(sql).replace('FROM weir.rare_records', `FROM ${source} AS rare_records`);
    const rows = async (source: string) =>
      select(`SELECT formatRow('JSONEachRow', *) AS row FROM (${from(source)}) ORDER BY row`);
    const wanted = await rows('weir.records');
    expect([name, wanted]).not.toEqual([name, []]);
    expect([name, await rows(`(${rare?.sql})`)]).toEqual([name, wanted]);
  }
});

test('an ordinary insert adds no row to `rare_records`', async () => {
  const [{ sql } = { sql: '' }] = await select(
    "SELECT as_select AS sql FROM system.tables WHERE database = 'weir' AND name = 'rare_records_fill'",
  );
  const ordinary: readonly RowFields[] = [
    { ...VISIT, visit_stamp: 1 },
    { ...VISIT, visit_stamp: 1, source: 'server', type: 'event', value: 5, detail: '{"user_visitor":true}' },
    { outcome: 'duplicate' },
    { outcome: 'excluded', reason: 'bot' },
  ].map((row) => ({ ...row, site_id: 'ordinary', timestamp: NOT_LATE, received_at: NOT_LATE }));
  await opened.analytics.insertRecords(batch(200, ordinary));
  expect(await numberOf("SELECT count() FROM records WHERE site_id = 'ordinary'")).toBe(4);
  expect(await numberOf(`SELECT count() FROM (${sql}) WHERE site_id = 'ordinary'`)).toBe(0);
});
