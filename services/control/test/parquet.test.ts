import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { startArchiver } from '@weir/archiver/archiver';
import { eraseParquet } from '@weir/control/parquet/erase-parquet';
import { exportParquet } from '@weir/control/parquet/export-parquet';
import { startParquetExporter } from '@weir/control/parquet/parquet-exporter';
import { lastRound, putRound, readRound } from '@weir/control/parquet/parquet-rounds';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { DependencyError } from '@weir/domain/errors';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import type { ObjectStore } from '@weir/ports/object-store';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

jest.setTimeout(600_000);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const folder = mkdtempSync(join(tmpdir(), 'weir-parquet-'));
const files = openFileObjectStore(folder);
const logger = createLogger('silent');
/** The number of parts that can still be stored. The part after them fails. */
let partsUntilFailure = Number.POSITIVE_INFINITY;
/** Called before the next part is stored, when its rows are already read. */
let onceRead: (() => Promise<unknown>) | undefined;
const store: ObjectStore = {
  ...files,
  async put(name, body) {
    const hook = name.endsWith('.parquet') ? onceRead : undefined;
    if (hook !== undefined) {
      onceRead = undefined;
      await hook();
    }
    if (name.endsWith('.parquet') && partsUntilFailure-- <= 0)
      throw new DependencyError('object_store_unavailable', 'of the test');
    await files.put(name, body);
  },
};

let weir: ReplayHarness;
beforeAll(async () => {
  weir = await openReplayHarness(0, { archive: store });
  // The tests expect that all rows have the same day. So in the last half hour of a day, they begin with the next day.
  if (weir.clock() % DAY_MS >= DAY_MS - HOUR_MS / 2) weir.advance(HOUR_MS / 2);
  await weir.visits(60);
});
afterAll(async () => {
  await weir.close();
  rmSync(folder, { recursive: true });
});

/** The time 02:00 UTC, this number of days after today. */
const daysLater = (days: number) => Math.floor(weir.clock() / DAY_MS) * DAY_MS + days * DAY_MS + 2 * HOUR_MS;
const warned = new Set<string>();
const runAt = (nowMs: number, retentionMs?: number, signal = new AbortController().signal) => {
  const { analytics, registry } = weir;
  const onWait = (reason: string) => warned.add(reason);
  const deps = { store, analytics, registry, clock: () => nowMs, logger, retentionMs, onWait };
  return exportParquet(deps, signal, async () => undefined);
};
const parts = async (): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { name } of files.list('parquet/')) names.push(name);
  return names;
};

const COLUMNS = RECORDS_COLUMNS.map((name) =>
  name === 'properties' ? 'toString(properties) AS properties' : name,
).join(', ');
const digestOf = async (rows: string) => {
  const [row] = await weir.analytics.select<{ n: number; digest: string }>(
    `SELECT count() AS n, hex(SHA256(arrayStringConcat(arraySort(groupArray(formatRow('JSONEachRow', *)))))) AS digest FROM (${rows})`,
  );
  return `${row?.n} ${row?.digest}`;
};
const ofTables = () => digestOf(`SELECT ${COLUMNS} FROM records WHERE site_id != ''`);

/** Reads all parts with ClickHouse, with the types of the table. */
async function ofParts(): Promise<string> {
  await weir.command('DROP TABLE IF EXISTS weir.read_back');
  await weir.command('CREATE TABLE weir.read_back ENGINE = Memory AS SELECT * FROM weir.records WHERE 0');
  const structure = await weir.analytics.select<{ name: string; type: string }>(
    "SELECT name, if(name = 'properties', 'String', type) AS type FROM system.columns WHERE database = 'weir' AND table = 'records' AND default_kind = '' ORDER BY position",
  );
  const types = structure.map(({ name, type }) => `${name} ${type.replaceAll("'", "\\'")}`).join(', ');
  const glob = join(folder, 'parquet/site=*/day=*/*.parquet');
  await weir.command(
    `INSERT INTO weir.read_back (${RECORDS_COLUMNS.join(', ')}) SELECT ${RECORDS_COLUMNS.join(', ')} FROM file('${glob}', Parquet, '${types}')`,
  );
  return digestOf(`SELECT ${COLUMNS} FROM weir.read_back`);
}

test('complete days are exported by site and day, once, also after a failure in between', async () => {
  expect(await runAt(daysLater(0))).toBe(0);
  expect(await parts()).toEqual([]);
  partsUntilFailure = 1;
  await expect(runAt(daysLater(1))).rejects.toThrow('of the test');
  expect(await parts()).toHaveLength(1);
  partsUntilFailure = Number.POSITIVE_INFINITY;
  expect(await runAt(daysLater(1))).toBe(1);
  expect(await runAt(daysLater(1))).toBe(0);
  const day = new Date(weir.clock()).toISOString().slice(0, 10);
  expect(await parts()).toEqual(['blog', 'shop'].map((site) => `parquet/site=${site}/day=${day}/00000002.parquet`));
  expect(await ofParts()).toBe(await ofTables());
});

test('rows that are stored later are in a further part', async () => {
  await weir.visits(6);
  expect(await runAt(daysLater(1))).toBe(0);
  expect(await runAt(daysLater(2))).toBe(2);
  expect(await parts()).toHaveLength(4);
  expect(await ofParts()).toBe(await ofTables());
});

test('an upload ends with its signal', async () => {
  await weir.visits(6);
  const before = await parts();
  const stopping = new AbortController();
  onceRead = async () => stopping.abort();
  await expect(runAt(daysLater(3), undefined, stopping.signal)).rejects.toThrow('abort');
  expect(await parts()).toEqual(before);
  expect(await runAt(daysLater(3))).toBe(2);
  expect(await ofParts()).toBe(await ofTables());
});

test('an erased person is in no part', async () => {
  const leftover = join(folder, '.part-1');
  writeFileSync(leftover, 'x');
  utimesSync(leftover, 1, 1);
  const limits = { segmentBytesMax: 1_000_000, lingerMs: 100, retentionMs: undefined, upkeepMs: HOUR_MS };
  const { eventLog, clock } = weir;
  const archiver = await startArchiver({ eventLog, store, clock, logger, metrics: createMetrics(), limits });
  const begun = await weir.call('POST', '/sites/shop/erasures', { visitors: ['visitor-1'] });
  const receipt = await eventually(
    'the erasure to be done',
    async () => {
      const { data } = (await weir.call('GET', `/erasures/${begun.body.data.erasure_id}`)).body;
      if (data.phase !== 'done') throw new Error(`${data.phase}: ${data.problem}`);
      return data;
    },
    150_000,
  );
  await archiver.close();
  expect(existsSync(leftover)).toBe(false);
  expect(receipt.archive.parquet_files).toBe(3);
  expect(await ofParts()).toBe(await ofTables());
  expect(
    await weir.count("SELECT count() AS n FROM weir.read_back WHERE visitor_id = 'visitor-1' AND site_id = 'shop'"),
  ).toBe(0);
  expect(await weir.count("SELECT count() AS n FROM weir.read_back WHERE outcome = 'erased'")).toBeGreaterThan(0);
});

/**
 * Moves all rows out of the table `records`, so that it is empty as in a new installation. `putBack` restores them, as a restore from the archive
 * does.
 */
const takeAway = async () => {
  await weir.command('CREATE TABLE weir.taken AS weir.records');
  await weir.command(
    `INSERT INTO weir.taken (${RECORDS_COLUMNS.join(', ')}) SELECT ${RECORDS_COLUMNS.join(', ')} FROM weir.records`,
  );
  await weir.command('TRUNCATE TABLE weir.records');
};
const putBack = async () => {
  await weir.command(
    `INSERT INTO weir.records (${RECORDS_COLUMNS.join(', ')}) SELECT ${RECORDS_COLUMNS.join(', ')} FROM weir.taken`,
  );
  await weir.command('DROP TABLE weir.taken SYNC');
};

test('rows of a log that the tables lack for a time are exported once', async () => {
  await takeAway();
  expect(await runAt(daysLater(4))).toBe(0);
  await putBack();
  expect(await runAt(daysLater(5))).toBe(0);
  expect(await ofParts()).toBe(await ofTables());
});

test('a round that has begun is not finished while the tables lack its log', async () => {
  await weir.visits(6);
  partsUntilFailure = 1;
  await expect(runAt(daysLater(6))).rejects.toThrow('of the test');
  partsUntilFailure = Number.POSITIVE_INFINITY;
  await takeAway();
  expect(await runAt(daysLater(6))).toBe(0);
  await putBack();
  expect(await runAt(daysLater(6))).toBe(1);
  expect(await ofParts()).toBe(await ofTables());
});

test('a receipt counts the files with records that the restore of an older backup has replaced', async () => {
  const { analytics, clock } = weir;
  const task = { store: files, analytics, clock, assertOwn: () => undefined };
  const erase = () => eraseParquet(task, [{ siteId: 'blog' } as Tombstone]);
  expect(await erase()).toEqual({ rewritten: 0, left: 0 });
  // After such a restore, another record gets the raw offset of the last exported record, with another time of receipt.
  const round = await readRound(files, await lastRound(files));
  expect(round.ends.map(({ lastAt = 0 }) => lastAt > 0)).not.toContain(false);
  await putRound(files, { ...round, ends: round.ends.map((end) => ({ ...end, lastAt: 1 })) });
  expect(await erase()).toEqual({ rewritten: 0, left: 1 });
  // Earlier versions did not store this time.
  await putRound(files, { ...round, ends: round.ends.map(({ lastAt: _, ...end }) => end) });
  expect(await erase()).toEqual({ rewritten: 0, left: 0 });
  await putRound(files, round);
});

test('a part whose rows are removed while it is stored is stored again', async () => {
  const since = weir.clock();
  await weir.visits(6);
  const named = `site_id = 'blog' AND received_at >= fromUnixTimestamp64Milli(${since}) AND raw_offset % 2 = 0`;
  expect(await weir.count(`SELECT count() AS n FROM records WHERE ${named}`)).toBeGreaterThan(0);
  // Deletes rows while the part is being stored. The registry contains no expiry, as if an expiry had begun and ended in the meantime.
  onceRead = () => weir.command(`ALTER TABLE weir.records DELETE WHERE ${named} SETTINGS mutations_sync = 1`);
  expect(await runAt(daysLater(7))).toBe(2);
  expect(onceRead).toBeUndefined();
  expect(await ofParts()).toBe(await ofTables());
});

test('parts are deleted when their day is older than the retention', async () => {
  await runAt(daysLater(7), 30 * DAY_MS);
  expect(await parts()).toHaveLength(10);
  await runAt(daysLater(40), 30 * DAY_MS);
  expect(await parts()).toEqual([]);
});

test('a warning says that the export waits because days in the future were exported', async () => {
  warned.clear();
  expect(await runAt(daysLater(8))).toBe(0);
  expect(await runAt(daysLater(8))).toBe(0);
  expect([...warned]).toEqual([expect.stringContaining('check the clock of this machine')]);
});

test('the exporter says why it fails, and why it waits', async () => {
  let isDenied = true;
  const objects: ObjectStore = {
    ...files,
    async *list(prefix) {
      if (isDenied) throw new DependencyError('object_store_refused', 'access denied');
      yield* files.list(prefix);
    },
  };
  const start = async (clock: () => number) => {
    const metrics = createMetrics();
    const { analytics, registry, eventLog } = weir;
    const deps = { store: objects, analytics, registry, eventLog, clock, logger, metrics, retentionMs: undefined };
    const exporter = await startParquetExporter(deps);
    const isFailing = async () => (await metrics.metrics()).includes('weir_archive_failing{work="parquet"} 1');
    return { exporter, isFailing };
  };
  const first = await start(() => daysLater(60));
  await eventually('the error', () => first.exporter.problem() !== undefined);
  expect(first.exporter.problem()).toBe('the export of Parquet files failed: object_store_refused: access denied');
  expect(await first.isFailing()).toBe(true);
  isDenied = false;
  await eventually('no problem', async () => first.exporter.problem() === undefined && !(await first.isFailing()));
  await first.exporter.close();

  const second = await start(() => daysLater(30));
  await eventually('the reason of the wait', () => second.exporter.problem() !== undefined);
  expect(second.exporter.problem()).toContain('check the clock of this machine');
  expect(await second.isFailing()).toBe(true);
  await second.exporter.close();
  expect(await second.isFailing()).toBe(false);
});
