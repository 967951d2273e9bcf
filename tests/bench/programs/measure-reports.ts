import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { EmbeddedClickhouse } from '@weir/embedded-clickhouse/start-embedded-clickhouse';
import type { Analytics } from '@weir/ports/analytics';
import { untilQuiet } from '../report/quiet-machine.ts';
import { createReportAsker } from '../reports/ask-report.ts';
import { buildSlots, fillTraffic, untilMerged } from '../reports/fill-traffic.ts';
import { openTables, type TablesTask } from '../reports/open-tables.ts';
import { FIRST_REPORT, PERIODS, type ReportRequest, reportRequests } from '../reports/report-requests.ts';
import { cpuMicrosOfProcess } from './enriched-log.ts';

export interface ReportsTask extends TablesTask {
  /** Whether the tables stay in `folder`. If the folder already has tables, they are used again. */
  readonly keepsTables: boolean;
  readonly rows: number;
  readonly rounds: number;
  /** The reports to measure. If it is undefined, all reports are measured. */
  readonly only: readonly string[] | undefined;
  readonly seed: number;
  /** The maximum time to wait, after the inserts, until the load of the machine is low. */
  readonly quietSeconds: number;
  readonly endMs: number;
}

export interface ReportFigures extends ReportRequest {
  /** The duration of each round in milliseconds. Empty if the report was refused. */
  readonly ms: readonly number[];
  /** The highest memory of a statement, sampled while it ran. 0 if the statement was too short for a sample. */
  readonly peakBytes: number;
  /** The number of uncompressed bytes that were read from the tables. */
  readonly readBytes: number;
  /** Why the report was refused; empty if the report was answered. */
  readonly refused: string;
}

export interface ReportsFigures {
  readonly rows: number;
  readonly fillSeconds: number;
  /** A text about the load of the machine when the reports began. */
  readonly quiet: string;
  /** The CPU time of ClickHouse in microseconds per inserted row, including merges. */
  readonly engineMicrosPerRow: number;
  readonly tables: readonly { readonly name: string; readonly bytes: number }[];
  /** The columns of `records`. Empty if the tables are kept: reading the sizes of columns would write all parts again. */
  readonly columns: readonly { readonly name: string; readonly bytes: number }[];
  readonly reports: readonly ReportFigures[];
  /** The times of the first report of a process in milliseconds, by period. This report waits for its facts. Empty if no report is measured. */
  readonly firstMs: readonly { readonly period: string; readonly ms: readonly number[] }[];
}

const FIRST_ROUNDS = 5;
const POLL_MS = 10;
const REFUSED_CHARS_MAX = 60;
const note = (text: string): void => console.error(`bench: reports: ${text}`);

async function main(task: ReportsTask): Promise<ReportsFigures> {
  const { engine, analytics, close } = await openTables(task);

  const filled = join(task.folder, 'filled.json');
  if (!existsSync(filled)) writeFileSync(filled, JSON.stringify(await fill(analytics, engine, task)));
  const filling = JSON.parse(readFileSync(filled, 'utf8')) as Filling;

  const tables = await tableBytes(analytics);
  const quiet = await untilQuiet(task.quietSeconds);
  note(quiet);
  const reports = await measureReports(analytics, task);
  const firstMs = reports.length === 0 ? [] : await measureFirst(analytics, task);
  const columns = task.keepsTables ? [] : await columnBytes(analytics);
  await close();
  return { ...filling, quiet, tables, columns, reports, firstMs };
}

type Filling = Pick<ReportsFigures, 'rows' | 'fillSeconds' | 'engineMicrosPerRow'>;

async function fill(analytics: Analytics, engine: EmbeddedClickhouse, task: ReportsTask): Promise<Filling> {
  const startedAt = performance.now();
  const cpuBefore = cpuMicrosOfProcess(engine.pid() ?? 0);
  const rows = await fillTraffic(analytics, task, note);
  await untilMerged(analytics);
  const fillSeconds = (performance.now() - startedAt) / 1000;
  const engineMicrosPerRow = (cpuMicrosOfProcess(engine.pid() ?? 0) - cpuBefore) / rows;
  note(`${rows} rows in ${fillSeconds.toFixed(0)} s`);

  const builtAt = performance.now();
  const slots = await buildSlots(analytics, task.endMs);
  await untilMerged(analytics);
  note(`${slots} slots in ${((performance.now() - builtAt) / 1000).toFixed(0)} s`);
  return { rows, fillSeconds, engineMicrosPerRow };
}

/**
 * Measures each report in several rounds. The first round measures only memory and read bytes, not times. Each request has a present time one
 * second after that of the previous request, as in real use, so that ClickHouse cannot reuse cached results.
 */
async function measureReports(analytics: Analytics, task: ReportsTask): Promise<readonly ReportFigures[]> {
  const figures: ReportFigures[] = [];
  const asker = createReportAsker(analytics);
  let asked = 0;
  const askNext = (request: ReportRequest): Promise<void> => {
    asked += 1;
    return asker.ask(request, task.endMs + asked * 1_000);
  };
  for (const request of reportRequests(task.only)) {
    const watched = await watch(analytics, () => askNext(request));
    const ms: number[] = [];
    for (let round = 0; round < task.rounds && watched.refused === ''; round++) {
      const startedAt = performance.now();
      await askNext(request);
      ms.push(performance.now() - startedAt);
    }
    figures.push({ ...request, ms, ...watched });
    const { variant, report, period } = request;
    note(`${variant}, ${report} ${period}: ${watched.refused || ms.map((one) => one.toFixed(0)).join(', ')}`);
  }
  return figures;
}

async function measureFirst(analytics: Analytics, { endMs }: ReportsTask): Promise<ReportsFigures['firstMs']> {
  const found: { period: string; ms: number[] }[] = [];
  for (const period of PERIODS) {
    const ms: number[] = [];
    for (let round = 0; round < FIRST_ROUNDS; round++) {
      const query = `?period=${period}&dimension=${FIRST_REPORT}&limit=100`;
      const startedAt = performance.now();
      const asker = createReportAsker(analytics);
      await asker.ask({ report: FIRST_REPORT, period, variant: 'first', query }, endMs + round * 1_000);
      ms.push(performance.now() - startedAt);
    }
    note(`first, ${FIRST_REPORT} ${period}: ${ms.map((one) => one.toFixed(0)).join(', ')}`);
    found.push({ period, ms });
  }
  return found;
}

async function watch(
  analytics: Analytics,
  work: () => Promise<void>,
): Promise<Pick<ReportFigures, 'peakBytes' | 'readBytes' | 'refused'>> {
  let running = true;
  let refused = '';
  let peakBytes = 0;
  const before = await selectedBytes(analytics);
  const done = work()
    .catch((error: unknown) => {
      if (!isDependencyError(error)) throw error;
      refused = error.message.slice(0, REFUSED_CHARS_MAX);
    })
    .finally(() => {
      running = false;
    });
  const poll = async (): Promise<void> => {
    while (running) {
      const [row] = await analytics.select<{ peak: string | number }>(
        "SELECT max(peak_memory_usage) AS peak FROM system.processes WHERE position(query, 'system.processes') = 0",
      );
      peakBytes = Math.max(peakBytes, Number(row?.peak ?? 0));
      await pause(POLL_MS);
    }
  };
  await Promise.all([done, poll()]);
  return { peakBytes, readBytes: (await selectedBytes(analytics)) - before, refused };
}

async function selectedBytes(analytics: Analytics): Promise<number> {
  const query = "SELECT sum(value) AS bytes FROM system.events WHERE event = 'SelectedBytes'";
  return Number((await analytics.select<{ bytes: string | number }>(query))[0]?.bytes ?? 0);
}

async function tableBytes(analytics: Analytics): Promise<ReportsFigures['tables']> {
  const rows = await analytics.select<{ name: string; bytes: string | number }>(
    `SELECT table AS name, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() GROUP BY name ORDER BY bytes DESC`,
  );
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
}

/**
 * Returns the size of each column. ClickHouse keeps no sizes of columns for small parts. Therefore all parts are first written again, with one
 * file per column.
 */
async function columnBytes(analytics: Analytics): Promise<ReportsFigures['columns']> {
  await analytics.change('ALTER TABLE records MODIFY SETTING min_bytes_for_wide_part = 0');
  const partitions = await analytics.select<{ id: string }>(
    "SELECT DISTINCT partition_id AS id FROM system.parts WHERE active AND database = currentDatabase() AND table = 'records'",
  );
  for (const { id } of partitions) await analytics.change(`OPTIMIZE TABLE records PARTITION ID '${id}' FINAL`);
  const rows = await analytics.select<{ name: string; bytes: string | number }>(
    `SELECT column AS name, sum(column_bytes_on_disk) AS bytes FROM system.parts_columns
     WHERE active AND database = currentDatabase() AND table = 'records' GROUP BY name ORDER BY bytes DESC`,
  );
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as ReportsTask)));
