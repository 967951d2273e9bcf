import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import { eventually } from '@weir/testkit/eventually';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { migrateClickhouse } from '../../src/clickhouse/clickhouse-migrate.ts';
import {
  batch,
  type ClickhouseUnderTest,
  identify,
  openClickhouseUnderTest,
  type RowFields,
  T0,
} from './clickhouse-harness.ts';

const FOLDER = join(__dirname, '../../../../schemas/clickhouse');
const DATABASE = 'weir';

/** Rows as the version before stamps (docs/glossary.md) wrote them. */
const oldBatch = (from: number, rows: readonly RowFields[]) => batch(from, rows, RECORDS_COLUMNS_BY_VERSION[1]);

let opened: ClickhouseUnderTest;
let oldFolder: string;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  oldFolder = mkdtempSync(join(tmpdir(), 'weir-migrations-'));
}, 60_000);
afterAll(async () => {
  rmSync(oldFolder, { recursive: true });
  await opened.close();
});

/** Returns a folder with copies of all migrations that come before the migration with this name. */
function migrationsBefore(name: string): string {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith('.sql') && file < name);
  for (const file of names) copyFileSync(join(FOLDER, file), join(oldFolder, file));
  return oldFolder;
}

const query = async (sql: string) => (await opened.analytics.userQuery(sql, {})).rows;

test('a database to which the first migration was applied with its former comments is accepted', async () => {
  const database = 'former_comments';
  const target = { ...opened.clickhouse, migrationsDir: FOLDER };
  await migrateClickhouse(target, database);
  const client = createClient({ ...opened.clickhouse, database });
  const former = '98fbff4ac3e7278c7da9f4c88edcd554aae07591dd366ddfdc28e6bc90bfbda9';
  for (const [digest, outcome] of [
    [former, 'taken'],
    [
      'another',
      'the migration 000_records.sql was changed after it was applied: restore the file and add a new migration',
    ],
  ] as const) {
    await client.command({
      query: `ALTER TABLE schema_migrations UPDATE digest = '${digest}' WHERE name = '000_records.sql'`,
      clickhouse_settings: { mutations_sync: '1' },
    });
    const migrated = migrateClickhouse(target, database).then(
      () => 'taken',
      (error: Error) => error.message,
    );
    expect(await migrated).toBe(outcome);
  }
  await client.close();
});

test.each([
  ['and has stored that it is applied: it is not repeated', 'migrated_twice', true],
  ['and has not yet stored that it is applied: it is repeated', 'migrated_again', false],
])('a migration fails because another process has dropped a table of it, %s', async (_what, database, isStored) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-two-migrations-'));
  // The pause is long, so that the table is dropped within it, also on a slow machine. ClickHouse allows at most 3 s for each `sleep`.
  const first = `CREATE TABLE IF NOT EXISTS former (n UInt8) ENGINE = Memory;
    SELECT sleep(3);
    SELECT sleep(3);
    SELECT sleep(3);
    CREATE OR REPLACE VIEW current AS SELECT n FROM former;`;
  writeFileSync(join(folder, '000_first.sql'), first);
  writeFileSync(
    join(folder, '001_second.sql'),
    'CREATE OR REPLACE VIEW current AS SELECT 2 AS n; DROP TABLE IF EXISTS former;',
  );
  const migrated = migrateClickhouse({ ...opened.clickhouse, migrationsDir: folder }, database);
  const client = createClient({ ...opened.clickhouse });
  const count = async (query: string) =>
    Number((await (await client.query({ query, format: 'JSONEachRow' })).json<{ n: string }>())[0]?.n);
  await eventually(
    'the first migration is under way',
    async () =>
      (await count(`SELECT count() AS n FROM system.tables WHERE database = '${database}' AND name = 'former'`)) === 1,
  );
  await client.command({ query: `DROP TABLE ${database}.former` });
  if (isStored) {
    await client.insert({
      table: `${database}.schema_migrations`,
      values: [{ name: '000_first.sql', digest: createHash('sha256').update(first).digest('hex') }],
      format: 'JSONEachRow',
    });
  }
  await migrated;
  expect(await count(`SELECT n FROM ${database}.current`)).toBe(2);
  await client.close();
  rmSync(folder, { recursive: true });
});

test('008: stored identifies get a rank (a server before a browser), and repeating an insert changes nothing', async () => {
  await migrateClickhouse({ ...opened.clickhouse, migrationsDir: migrationsBefore('008') }, DATABASE);
  const said = (second: number, source: string, more: object): RowFields =>
    identify(
      { profile_id: 'p', user_id: 'u', ...more },
      { site_id: 's', visitor_id: `v${second}`, received_at: T0 + second * 1000, source },
    );
  const stored = oldBatch(0, [
    said(1, 'server', { email: 'server@a.example', payment_customer_id: 'c', traits: { plan: 'pro', gone: null } }),
    said(2, 'collect', {
      email: 'browser@a.example',
      name: 'Browser',
      payment_customer_id: 'c',
      traits: { plan: 'free', gone: 1, seen: true },
    }),
  ]);
  await opened.analytics.insertRecords(stored);
  const before = openClickhouseAnalytics({ ...opened.clickhouse, migrationsDir: oldFolder });
  expect((await before.userQuery('SELECT email FROM profiles', {})).rows).toEqual([{ email: 'browser@a.example' }]);
  await before.close();

  await migrateClickhouse({ ...opened.clickhouse, migrationsDir: migrationsBefore('009') }, DATABASE);
  const profile = {
    profile_id: 'p',
    user_id: 'u',
    email: 'server@a.example',
    name: 'Browser',
    image: '',
    traits: { plan: 'pro', seen: true },
    visitor_ids: ['v1', 'v2'],
  };
  const profiles = 'SELECT * EXCEPT (site_id, first_seen_at, last_seen_at) FROM profiles';
  const customers = 'SELECT visitor_id, profile_id, toUnixTimestamp64Milli(linked_at) AS at FROM payment_customers';
  expect(await query(profiles)).toEqual([profile]);
  expect(await query(customers)).toEqual([{ visitor_id: 'v1', profile_id: 'p', at: T0 + 1000 }]);

  // Simulates a process that ended before it recorded the migration.
  const client = createClient({ ...opened.clickhouse, database: DATABASE });
  await client.command({
    query: "ALTER TABLE schema_migrations DELETE WHERE name LIKE '008%'",
    clickhouse_settings: { mutations_sync: '1' },
  });
  await client.close();
  await migrateClickhouse({ ...opened.clickhouse, migrationsDir: migrationsBefore('009') }, DATABASE);
  expect(await query(profiles)).toEqual([profile]);

  await opened.analytics.insertRecords(stored);
  await opened.analytics.insertRecords(oldBatch(2, [said(3, 'server', { traits: { plan: 'max' } })]));
  expect(await query(profiles)).toEqual([
    { ...profile, traits: { plan: 'max', seen: true }, visitor_ids: ['v1', 'v2', 'v3'] },
  ]);
  expect(await opened.analytics.drift()).toEqual([]);
});

test('009: stored events belong to the user that they name, and do not move a profile into the future', async () => {
  const at = T0 + 10_000;
  const own = { site_id: 's', received_at: at, timestamp: at };
  await opened.analytics.insertRecords(
    oldBatch(10, [
      { ...own, visitor_id: 'v1', timestamp: at + 3_600_000 },
      { ...own, visitor_id: 'unknown', user_id: 'u', timestamp: 0 },
    ]),
  );
  await opened.analytics.migrate();
  const seen =
    'SELECT toUnixTimestamp64Milli(first_seen_at) AS first, toUnixTimestamp64Milli(last_seen_at) AS last FROM profiles';
  expect(await query(seen)).toEqual([{ first: 0, last: at }]);
  expect(await query('SELECT visitor_id, profile_id FROM events ORDER BY visitor_id')).toEqual([
    { visitor_id: 'unknown', profile_id: 'p' },
    { visitor_id: 'v1', profile_id: 'p' },
  ]);
});

describe('the numbers of the migrations', () => {
  const FORMER_NAMES: Readonly<Record<string, string>> = {
    '000_records.sql': '001_records.sql',
    '001_outcomes.sql': '002_outcomes.sql',
    '002_session_fragments.sql': '003_session_fragments.sql',
  };
  const DATABASE_BEFORE = 'numbered_before';
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-migrations-'));
    for (const file of readdirSync(FOLDER).filter((name) => /^00[0-7]_/.test(name)))
      copyFileSync(join(FOLDER, file), join(folder, FORMER_NAMES[file] ?? file));
    await migrateClickhouse({ ...opened.clickhouse, migrationsDir: folder }, DATABASE_BEFORE);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ask = async (sql: string): Promise<readonly unknown[]> => {
    const client = createClient({ ...opened.clickhouse, database: DATABASE_BEFORE });
    try {
      return await (await client.query({ query: sql, format: 'JSONEachRow' })).json();
    } finally {
      await client.close();
    }
  };
  const LEDGER = 'SELECT name FROM schema_migrations ORDER BY name, applied_at';

  test('are unique', () => {
    const numbers = readdirSync(FOLDER).flatMap((name) => name.match(/^\d{3}/)?.[0] ?? []);
    expect(numbers.length).toBeGreaterThan(7);
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  });

  test('a migration that was applied under a former number is not applied again, later ones are', async () => {
    const before = await ask(LEDGER);
    expect(before).toContainEqual({ name: '003_session_fragments.sql' });
    await migrateClickhouse({ ...opened.clickhouse, migrationsDir: FOLDER }, DATABASE_BEFORE);
    const later = readdirSync(FOLDER).filter((name) => name.endsWith('.sql') && name > '008');
    expect(await ask(LEDGER)).toEqual([...before, ...later.sort().map((name) => ({ name }))]);
  });

  test('a changed file is refused, also if it was applied under a former number', async () => {
    const changed = join(folder, '002_session_fragments.sql');
    const sql = readFileSync(join(FOLDER, '002_session_fragments.sql'), 'utf8');
    writeFileSync(changed, `${sql}-- changed`);
    const migrating = migrateClickhouse({ ...opened.clickhouse, migrationsDir: folder }, DATABASE_BEFORE);
    await expect(migrating).rejects.toThrow('002_session_fragments.sql was changed after it was applied');
  });
});
