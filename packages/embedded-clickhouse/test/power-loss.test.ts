import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

const ENTRY = join(__dirname, '../src/clickhouse-server.ts');
const WINDOW = 'SETTINGS non_replicated_deduplication_window = 100, fsync_after_insert = 1, fsync_part_directory = 1';
const ONCE = 'insert_deduplicate=1&deduplicate_blocks_in_dependent_materialized_views=1&async_insert=0';

let dataDir: string;
let clickhouse: EmbeddedClickhouse;
/** What happens to the files while the engine is not running. */
let damage: (() => void) | undefined;
let warnings: object[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-power-'));
  warnings = [];
  clickhouse = await startEmbeddedClickhouse({
    dataDir,
    entry: ENTRY,
    logger: { info: () => undefined, warn: (fields) => warnings.push(fields) },
    beforeStart() {
      damage?.();
      damage = undefined;
    },
  });
  await clickhouse.ready();
  await run(`CREATE TABLE rows (a UInt64) ENGINE = MergeTree ORDER BY a ${WINDOW}`);
  await run(`CREATE TABLE sums (n UInt64) ENGINE = MergeTree ORDER BY n ${WINDOW}`);
  await run('CREATE MATERIALIZED VIEW sums_fill TO sums AS SELECT count() AS n FROM rows');
});
afterEach(async () => {
  await clickhouse.close();
  rmSync(dataDir, { recursive: true });
});

async function run(query: string, params = ''): Promise<string> {
  const response = await fetch(`${clickhouse.url}/?${params}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password },
    body: query,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text.trim();
}

/** Inserts ten rows as the writer does it. */
async function insert(from: number): Promise<void> {
  const query = encodeURIComponent('INSERT INTO rows (a) FORMAT JSONCompactEachRow');
  const lines = Array.from({ length: 10 }, (_, index) => `[${from + index}]\n`);
  await run(lines.join(''), `query=${query}&insert_deduplication_token=rows:${from}&${ONCE}`);
}

const counts = async (): Promise<string> => run('SELECT count(), (SELECT sum(n) FROM sums) FROM rows');

/** Kills the engine, changes its files, and waits until it runs again. */
async function crash(change: () => void): Promise<void> {
  const before = clickhouse.pid() as number;
  damage = change;
  process.kill(before, 'SIGKILL');
  await eventually('another process', () => clickhouse.pid() !== undefined && clickhouse.pid() !== before);
  await clickhouse.ready();
}

async function folderOf(table: string): Promise<string> {
  return run(`SELECT data_paths[1] FROM system.tables WHERE name = '${table}'`);
}
const logOf = (folder: string): string => join(folder, 'deduplication_logs/deduplication_log_1.txt');
const tokensOf = (folder: string): string[] => readFileSync(logOf(folder), 'utf8').trimEnd().split('\n');
const detachedIn = (folder: string): string[] => readdirSync(join(folder, 'detached'));
const partsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('all_'));

/** Removes the last tokens, as a loss of power does with the bytes that ClickHouse has not synced. */
function loseTokens(folder: string, lost: number): void {
  writeFileSync(logOf(folder), tokensOf(folder).slice(0, -lost).concat('').join('\n'));
}

describe('a loss of power', () => {
  let rows: string;
  let sums: string;
  beforeEach(async () => {
    rows = await folderOf('rows');
    sums = await folderOf('sums');
    for (const from of [0, 10, 20]) await insert(from);
    expect(await counts()).toBe('30\t30');
  });

  it('that keeps parts without their tokens: the rows are stored once after the inserts are repeated', async () => {
    await crash(() => {
      loseTokens(rows, 2);
      loseTokens(sums, 1);
    });
    expect(await counts()).toBe('10\t20');
    expect(detachedIn(rows).sort()).toEqual(['unacknowledged_all_2_2_0', 'unacknowledged_all_3_3_0']);
    expect(warnings).toContainEqual({ table: 'default.sums', parts: ['all_3_3_0'] });
    for (const from of [0, 10, 20, 20]) await insert(from);
    expect(await counts()).toBe('30\t30');
    // The repeated inserts have the same block numbers as the detached parts. This crash also loses the tokens of the repeated inserts.
    await crash(() => loseTokens(rows, 2));
    expect(detachedIn(rows)).toContain('unacknowledged_all_3_3_0_try1');
    for (const from of [10, 20]) await insert(from);
    expect(await counts()).toBe('30\t30');
  });

  it('after such parts were merged with acknowledged ones', async () => {
    const record = join(dataDir, 'clickhouse/accepted-blocks.json');
    const former = readFileSync(record);
    await run('OPTIMIZE TABLE rows FINAL');
    await run('OPTIMIZE TABLE sums FINAL');
    expect(partsIn(rows)).toContain('all_1_3_1');
    // A merge in the background does not change the record of accepted blocks. OPTIMIZE is a statement and changes it, so the former record
    // is restored.
    await crash(() => {
      writeFileSync(record, former);
      loseTokens(rows, 1);
      loseTokens(sums, 1);
    });
    expect(await counts()).toBe('20\t20');
    expect(detachedIn(sums).sort()).toEqual(['unacknowledged_all_1_3_1', 'unacknowledged_all_3_3_0']);
    for (const from of [0, 10, 20]) await insert(from);
    expect(await counts()).toBe('30\t30');
  });

  it('keeps the parts of statements without a token', async () => {
    await run('INSERT INTO rows SELECT number FROM numbers(100, 5)');
    await run('ALTER TABLE rows DELETE WHERE a = 0 SETTINGS mutations_sync = 2');
    await crash(() => undefined);
    expect(await counts()).toBe('34\t35');
    await crash(() => loseTokens(rows, 3));
    expect(await counts()).toBe('34\t35');
    expect([...detachedIn(rows), ...detachedIn(sums)]).toEqual([]);
  });

  it.each([
    [
      'there is no record of the accepted parts, as after an upgrade',
      () => rmSync(join(dataDir, 'clickhouse/accepted-blocks.json')),
    ],
    ['another program has opened the folder since', () => writeFileSync(join(dataDir, 'clickhouse/status'), 'PID: 1')],
  ])('changes no part if %s', async (_, change) => {
    await crash(() => {
      change();
      loseTokens(rows, 2);
    });
    expect(await counts()).toBe('30\t30');
    expect(detachedIn(rows)).toEqual([]);
  });

  it('that keeps tokens without their parts: the inserts can be repeated', async () => {
    await crash(() => {
      for (const name of ['all_2_2_0', 'all_3_3_0']) renameSync(join(rows, name), join(rows, `tmp_insert_${name}`));
    });
    expect(await counts()).toBe('10\t30');
    for (const from of [0, 10, 20, 10]) await insert(from);
    expect(await counts()).toBe('30\t30');
    await crash(() => undefined);
    for (const from of [0, 10, 20]) await insert(from);
    expect(await counts()).toBe('30\t30');
  });

  it.each([
    ['a part of a line', '1\tall_4_4_0\tall_12'],
    ['zero bytes', '\0\0\0\0\0\0\0\0'],
  ])('that leaves %s at the end of a log: all tokens are still known after the next start', async (_, garbage) => {
    await crash(() => appendFileSync(logOf(rows), garbage));
    await insert(30);
    await crash(() => undefined);
    for (const from of [0, 10, 20, 30]) await insert(from);
    expect(await counts()).toBe('40\t40');
    expect(tokensOf(rows)).toHaveLength(4);
  });
});

// `keepTokens` relies on this behaviour of ClickHouse.
test('an insert with a token writes a token for each part, before the part has its name', async () => {
  await insert(0);
  const folders = [await folderOf('rows'), await folderOf('sums')];
  expect(folders.map(tokensOf)).toEqual(folders.map(() => [expect.stringMatching(/^1\tall_1_1_0\t\w+$/)]));
});

test('a clean end leaves no record, so that the next start accepts all parts', async () => {
  await insert(0);
  expect(readdirSync(join(dataDir, 'clickhouse'))).toContain('accepted-blocks.json');
  await clickhouse.close();
  expect(readdirSync(join(dataDir, 'clickhouse'))).not.toContain('accepted-blocks.json');
});

test('merges have the settings of Weir: merged parts are synced, and the parts that were merged are kept for some time', async () => {
  const names = "('merge_selector_base', 'min_rows_to_fsync_after_merge', 'old_parts_lifetime')";
  const query = `SELECT name, value FROM system.merge_tree_settings WHERE name IN ${names} ORDER BY name`;
  expect(await run(query)).toBe('merge_selector_base\t10\nmin_rows_to_fsync_after_merge\t1\nold_parts_lifetime\t60');
});
