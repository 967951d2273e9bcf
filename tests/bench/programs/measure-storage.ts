import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickhouseAnalytics, openClickhouseAnalytics } from '@weir/adapters/clickhouse/clickhouse-analytics';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import { createLogger } from '@weir/runtime/logger';
import { countRows, insertPeople, insertTraffic, TRAFFIC_SITE, type Traffic } from '../reports/report-traffic.ts';
import { readTraffic } from './bench-traffic.ts';
import {
  cpuMicrosOfProcess,
  type DirectBlocks,
  fillEnrichedLog,
  insertDirectly,
  untilMerged,
  writeDirectBlocks,
} from './enriched-log.ts';

export interface StorageTask {
  readonly folder: string;
  /** The numbers of rows: of generated traffic (`rows`), and of the access log (`logRows`). */
  readonly rows: number;
  readonly logRows: number;
  readonly rounds: number;
  readonly seed: number;
  readonly endMs: number;
  readonly clickhouseEntry: string;
  readonly migrationsDir: string;
  /** The number of a migration. The present tables are compared with former tables, which have only the migrations before this one. */
  readonly since: string;
}

/** The results for one version of the tables, filled with one kind of traffic. */
export interface StoredFigures {
  readonly traffic: string;
  readonly side: 'former' | 'present';
  readonly rows: number;
  /** The CPU time of ClickHouse in microseconds per inserted row, including merges, with one number for each round. */
  readonly micros: readonly number[];
  /** The bytes per row of each table, in the last round. */
  readonly tables: Readonly<Record<string, number>>;
  /** The bytes per row of each column of `records`, in the last round. */
  readonly columns: Readonly<Record<string, number>>;
  /** The milliseconds of each query: one number for each round. */
  readonly queries: Readonly<Record<string, readonly number[]>>;
}

const SIDES = ['former', 'present'] as const;
const CHUNK_ROWS = 50_000;
const BLOCK_ROWS = 20_000;
const SAMPLE_SESSIONS = 200_000;
const DAY_MS = 24 * 3600_000;
const note = (text: string): void => console.error(`bench: storage: ${text}`);
const logger = createLogger('error');

async function main(task: StorageTask): Promise<readonly StoredFigures[]> {
  const { folder, migrationsDir, since } = task;
  const formerDir = join(folder, 'former-migrations');
  mkdirSync(formerDir);
  for (const file of readdirSync(migrationsDir))
    if (!file.endsWith('.sql') || file < since) copyFileSync(join(migrationsDir, file), join(formerDir, file));
  const engine = await startEmbeddedClickhouse({ dataDir: folder, entry: task.clickhouseEntry, logger });
  await engine.ready();
  const found: StoredFigures[] = [];
  const open = (database: string, dir: string): ClickhouseAnalytics =>
    openClickhouseAnalytics({ ...endpoint(engine), migrationsDir: dir, database });
  for (const [traffic, blocks] of [
    ['generated traffic', await generated(open('staging', formerDir), task)],
    ['access log', await ofAccessLog(task)],
  ] as const) {
    for (const side of SIDES) found.push({ traffic, side, rows: 0, micros: [], tables: {}, columns: {}, queries: {} });
    for (let round = 0; round < task.rounds; round++) {
      // The order alternates, so that both versions are equally often measured second, when the engine is warm.
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const analytics = open(`${side}_${round}`, side === 'former' ? formerDir : migrationsDir);
        const at = found.findIndex((one) => one.side === side && one.traffic === traffic);
        const before = found[at] as StoredFigures;
        found[at] = await measured(before, blocks, analytics, engine, task.endMs);
        note(`${traffic}, ${side}: ${found[at]?.micros.at(-1)?.toFixed(2)} µs a row`);
        await analytics.change(`DROP DATABASE ${side}_${round} SYNC`);
        await analytics.close();
      }
    }
  }
  await engine.close();
  return found;
}

const endpoint = ({ url, username, password }: EmbeddedClickhouse) => ({ url, username, password });

/** The generated traffic as lines, as the writer inserts them. */
async function generated(staging: ClickhouseAnalytics, task: StorageTask): Promise<DirectBlocks> {
  const { seed, endMs, rows: wanted } = task;
  const number = async (query: string): Promise<number> =>
    Number(Object.values((await staging.select<Record<string, unknown>>(query))[0] ?? {})[0]);
  await staging.migrate();
  await staging.change('CREATE TABLE staged AS records ENGINE = MergeTree ORDER BY (raw_partition, raw_offset)');
  const sampled = await number(countRows({ seed, endMs, sessions: SAMPLE_SESSIONS }));
  const traffic: Traffic = { seed, endMs, sessions: Math.round((wanted * SAMPLE_SESSIONS) / sampled) };
  const chunk = Math.max(1, Math.round((traffic.sessions * CHUNK_ROWS) / wanted));
  const into = (sql: string): Promise<void> => staging.change(sql.replace('INSERT INTO records', 'INSERT INTO staged'));
  let lateCount = 0;
  for (let from = 0; from <= traffic.sessions; from += chunk) {
    const count = Math.max(0, Math.min(chunk, traffic.sessions - from));
    await into(insertTraffic(traffic, { from, count, lateCount, firstOffset: (from / chunk) * CHUNK_ROWS * 10 }));
    lateCount = count;
  }
  await into(insertPeople(traffic, 0));
  const count = await number('SELECT count() FROM staged');
  const blocks: Buffer[] = [];
  for (let from = 0; from < count; from += BLOCK_ROWS) {
    const rows = await staging.select<Record<string, unknown>>(
      `SELECT ${RECORDS_COLUMNS.join(', ')} FROM staged ORDER BY raw_partition, raw_offset LIMIT ${BLOCK_ROWS} OFFSET ${from}`,
    );
    const lines = rows.map((row) => `${JSON.stringify(RECORDS_COLUMNS.map((column) => row[column]))}\n`);
    blocks.push(Buffer.from(lines.join('')));
  }
  await staging.change('DROP DATABASE staging SYNC');
  await staging.close();
  note(`${count} rows generated`);
  return {
    count: blocks.length,
    bytes: blocks.reduce((sum, block) => sum + block.length, 0),
    read: (nth) => blocks[nth] ?? Buffer.alloc(0),
  };
}

async function ofAccessLog({ folder, logRows: rows }: StorageTask): Promise<DirectBlocks> {
  const log = await fillEnrichedLog(join(folder, 'log'), { traffic: readTraffic(), rows, partitions: 1 });
  const blocks = await writeDirectBlocks(log, folder, BLOCK_ROWS);
  await log.close();
  return blocks;
}

async function measured(
  before: StoredFigures,
  blocks: DirectBlocks,
  analytics: ClickhouseAnalytics,
  engine: EmbeddedClickhouse,
  endMs: number,
): Promise<StoredFigures> {
  await analytics.migrate();
  await untilMerged(analytics);
  const cpu = (): number => cpuMicrosOfProcess(engine.pid() ?? 0);
  const cpuBefore = cpu();
  await insertDirectly(blocks, { name: 'storage', analytics, atOnce: 2 });
  await untilMerged(analytics);
  const used = cpu() - cpuBefore;
  const [{ n } = { n: 0 }] = await analytics.select<{ n: number | string }>('SELECT count() AS n FROM records');
  const rows = Number(n);
  const bytes = (sql: string) => analytics.select<{ name: string; bytes: number | string }>(sql);
  const named = (list: readonly { readonly name: string; readonly bytes: number | string }[]) =>
    Object.fromEntries(list.map((one) => [one.name, Number(one.bytes) / rows]));
  const tables = named(
    await bytes(
      `SELECT table AS name, sum(bytes_on_disk) AS bytes FROM system.parts
       WHERE active AND database = currentDatabase() GROUP BY name ORDER BY bytes DESC`,
    ),
  );
  const queries = { ...before.queries };
  for (const [name, sql] of Object.entries(queriesOf(endMs))) {
    const startedAt = performance.now();
    await analytics.select(sql);
    queries[name] = [...(queries[name] ?? []), performance.now() - startedAt];
  }
  return {
    ...before,
    rows,
    micros: [...before.micros, used / rows],
    tables,
    columns: named(await columnBytes(analytics)),
    queries,
  };
}

/** Returns queries of the views `sessions`, `payments` and `events`. The key of a query describes it. */
function queriesOf(endMs: number): Readonly<Record<string, string>> {
  const week = `started_at >= fromUnixTimestamp64Milli(${endMs - 7 * DAY_MS})`;
  const site = `site_id = '${TRAFFIC_SITE}'`;
  return {
    'count, pageviews and duration of all sessions': `SELECT count(), sum(pageviews), avg(duration_seconds) FROM sessions WHERE ${site}`,
    'sessions of 7 days by channel': `SELECT channel, count() FROM sessions WHERE ${site} AND ${week} GROUP BY channel`,
    'all columns of one session': `SELECT * FROM sessions WHERE ${site} AND session_id = (SELECT session_id FROM records WHERE ${site} AND session_id != '' ORDER BY timestamp DESC LIMIT 1)`,
    'all payments': `SELECT count(), sum(amount) FROM payments WHERE ${site}`,
    'events of the last day, with their session': `SELECT uniqExact(session_id) FROM events WHERE ${site} AND timestamp >= fromUnixTimestamp64Milli(${endMs - DAY_MS})`,
  };
}

/** Returns the bytes of each column. First merges each month into one part with one file per column. */
async function columnBytes(analytics: ClickhouseAnalytics) {
  await analytics.change('ALTER TABLE records MODIFY SETTING min_bytes_for_wide_part = 0');
  const partitions = await analytics.select<{ id: string }>(
    "SELECT DISTINCT partition_id AS id FROM system.parts WHERE active AND database = currentDatabase() AND table = 'records'",
  );
  for (const { id } of partitions) await analytics.change(`OPTIMIZE TABLE records PARTITION ID '${id}' FINAL`);
  return analytics.select<{ name: string; bytes: number | string }>(
    `SELECT column AS name, sum(column_bytes_on_disk) AS bytes FROM system.parts_columns
     WHERE active AND database = currentDatabase() AND table = 'records' GROUP BY name ORDER BY bytes DESC`,
  );
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as StorageTask)));
