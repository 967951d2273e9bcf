import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { eventually } from '@weir/testkit/eventually';
import { everyKind, openEmbeddedOn, tableCounts } from './clickhouse-harness.ts';

type Opened = Awaited<ReturnType<typeof openEmbeddedOn>>;

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-killed-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const connect = ({ clickhouse: { url, username, password } }: Opened) =>
  createClient({ url, username, password, database: 'weir' });

/** Creates tables whose parts are never merged, not even after a restart, because merges change the numbers of rows in some of them. */
async function migrateWithoutMerges(opened: Opened): Promise<void> {
  await opened.analytics.migrate();
  const server = connect(opened);
  const tables = Object.keys(await tableCounts(opened.analytics));
  const setting = 'max_bytes_to_merge_at_max_space_in_pool = 1';
  await Promise.all(tables.map((table) => server.command({ query: `ALTER TABLE ${table} MODIFY SETTING ${setting}` })));
  await server.close();
}

/**
 * Changes the files of a table as if ClickHouse had been killed during the last insert: the deduplication log contains the token of this
 * insert, but the part with its rows is missing.
 */
function unmake(table: string): void {
  const folder = realpathSync(join(dataDir, 'clickhouse/data/weir', table));
  const lines = readFileSync(join(folder, 'deduplication_logs/deduplication_log_1.txt'), 'utf8').trimEnd().split('\n');
  const part = lines.at(-1)?.split('\t')[1] ?? '';
  renameSync(join(folder, part), join(folder, `tmp_insert_${part}`));
}

const TABLES: readonly [string, (name: string) => boolean][] = [
  ['records', (name) => name === 'records'],
  ['each view', (name) => name !== 'records'],
  ['all of them', () => true],
];
/** Both inserts of a test store the same row in these tables. So their counts stay the same when the part of one insert is missing. */
const SAME_ROW = new Set(['moved_hours', 'visits_computed']);

test.each(TABLES)(
  'after a kill between a token and its part in %s, a repeated insert is stored once',
  async (_, killed) => {
    const first = await openEmbeddedOn(dataDir);
    await migrateWithoutMerges(first);
    await first.analytics.insertRecords(everyKind(0));
    await first.analytics.insertRecords(everyKind(5));
    const whole = await tableCounts(first.analytics);
    await first.close();
    // Excludes the tables that inserts do not fill, such as `sessions_kept`.
    const tables = Object.keys(whole).filter((table) => whole[table] !== 0);
    const unmade = tables.filter(killed);
    for (const table of unmade) unmake(table);

    const second = await openEmbeddedOn(dataDir);
    const before = await tableCounts(second.analytics);
    const reduced = unmade.filter((table) => !SAME_ROW.has(table));
    expect(reduced.filter((table) => before[table] === whole[table])).toEqual([]);
    await second.analytics.insertRecords(everyKind(0));
    expect(await tableCounts(second.analytics)).toEqual(before);
    await second.analytics.insertRecords(everyKind(5));
    expect(await tableCounts(second.analytics)).toEqual(whole);
    await second.close();
  },
  180_000,
);

function logOf(table: string): string {
  return join(dataDir, 'clickhouse/data/weir', table, 'deduplication_logs/deduplication_log_1.txt');
}

test.each(TABLES)(
  'after a loss of power that kept the parts of an insert and lost its tokens in %s, a repeated insert is stored once',
  async (_, isLost) => {
    let damage = (): void => {};
    const opened = await openEmbeddedOn(dataDir, () => damage());
    const { analytics, clickhouse, close } = opened;
    await migrateWithoutMerges(opened);
    await analytics.insertRecords(everyKind(0));
    const half = await tableCounts(analytics);
    const logs = new Map(
      Object.keys(half)
        .filter((table) => isLost(table) && existsSync(logOf(table)))
        .map((table) => [table, readFileSync(logOf(table))]),
    );
    await analytics.insertRecords(everyKind(5));
    const whole = await tableCounts(analytics);
    damage = () => {
      for (const [table, log] of logs) writeFileSync(logOf(table), log);
    };
    const killed = clickhouse.pid() as number;
    process.kill(killed, 'SIGKILL');
    await eventually('another process', () => clickhouse.pid() !== undefined && clickhouse.pid() !== killed);
    await clickhouse.ready();

    const expected = (table: string): unknown => (logs.has(table) ? half[table] : whole[table]);
    const wanted = Object.fromEntries(Object.keys(whole).map((table) => [table, expected(table)]));
    expect(await tableCounts(analytics)).toEqual(wanted);
    await analytics.insertRecords(everyKind(0));
    expect(await tableCounts(analytics)).toEqual(wanted);
    await analytics.insertRecords(everyKind(5));
    expect(await tableCounts(analytics)).toEqual(whole);
    await close();
  },
  180_000,
);

test('docs/decisions/0018: on a server, only the tokens of `records` are removed', async () => {
  const opened = await openEmbeddedOn(dataDir);
  const { analytics, close } = opened;
  await migrateWithoutMerges(opened);
  await analytics.insertRecords(everyKind(0));
  await analytics.insertRecords(everyKind(5));
  const whole = await tableCounts(analytics);
  const server = connect(opened);
  const run = (query: string) => server.command({ query });
  // A mutation removes the rows but keeps the token. A kill during an insert can have the same result.
  await run('ALTER TABLE records DELETE WHERE raw_offset >= 5 SETTINGS mutations_sync = 2');
  await analytics.insertRecords(everyKind(5));
  expect(await tableCounts(analytics)).toEqual({ ...whole, records: 5 });
  const decision = readFileSync(
    join(__dirname, '../../../../docs/decisions/0018-a-token-can-outlive-its-part.md'),
    'utf8',
  );
  const statements = decision.match(/^ALTER TABLE .*(?=;$)/gm) ?? [];
  expect(statements).toHaveLength(2);
  for (const statement of statements) await run(statement);
  await analytics.insertRecords(everyKind(5));
  expect(await tableCounts(analytics)).toEqual(whole);
  await server.close();
  await close();
});
