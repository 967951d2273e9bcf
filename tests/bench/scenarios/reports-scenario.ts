import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { ReportFigures, ReportsFigures, ReportsTask } from '../programs/measure-reports.ts';
import { showNumber } from '../report/spread.ts';
import { FIRST_REPORT, PERIODS, REPORTS, VARIANTS } from '../reports/report-requests.ts';
import { TRAFFIC_END, TRAFFIC_SEED } from '../reports/report-traffic.ts';
import type { Bench, Findings, Scenario, Table, Target } from './scenario.ts';

const ROWS_DEFAULT = 1_000_000;
const MIB = 1024 ** 2;
/** The target for the bytes of one event in all tables together. */
const EVENT_BYTES_MAX = 60;
const PEAK_MIB_MAX = 500;
const LARGE_ROWS = 50_000_000;
/** The targets in milliseconds. `short`: up to 30 days. `slowYear`: 12 months, the reports of `isSlow`. `year`: 12 months, all other reports. */
const LIMITS = { short: 150, year: 500, slowYear: 1_500 };
/** The targets for tables with at least `LARGE_ROWS` rows. */
const LARGE_LIMITS = { short: 700, year: 2_000, slowYear: 2_000 };

export const reports: Scenario = {
  name: 'reports',
  about:
    'time, memory and bytes of every report and dimension, and the size and cost of the rows, on generated traffic of a year',
  rounds: 3,
  onlyByName: 'it takes from half an hour (one million rows) to many hours',
  run,
};

/** The name that selects no report: the tables are only filled. */
const NONE = 'none';

async function run(bench: Bench): Promise<Findings> {
  const { programs, rounds, rows, folder, quietSeconds, note } = bench;
  const only = bench.reports?.filter((name) => name !== NONE);
  const unknown = only?.filter((name) => !REPORTS.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`no such report: ${unknown.join(', ')}; known are ${REPORTS.join(', ')}`);
  const found: ReportsFigures[] = [];
  for (const wanted of rows ?? [ROWS_DEFAULT]) {
    note(`${wanted} rows`);
    const task: ReportsTask = {
      folder: folder === undefined ? programs.newFolder() : join(folder, `reports-${wanted}`),
      keepsTables: folder !== undefined,
      rows: wanted,
      rounds,
      only,
      seed: TRAFFIC_SEED,
      quietSeconds,
      endMs: Date.parse(TRAFFIC_END),
      clickhouseEntry: programs.path('clickhouse-server'),
      migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
    };
    found.push(await programs.measure<ReportsFigures>('measure-reports', task));
  }
  return {
    tables: [
      storageTable(found),
      ...(found.some(({ columns }) => columns.length > 0) ? [columnsTable(found)] : []),
      ...found
        .filter(({ reports }) => reports.length > 0)
        .flatMap((figures) => [
          summaryTable(figures),
          firstTable(figures),
          ...VARIANTS.map(([variant]) => detailTable(figures, variant)),
        ]),
    ],
    targets: found.filter(({ reports }) => reports.length > 0).flatMap(targetsOf),
    notes: [
      ...(only === undefined ? [] : [`Only these reports were measured: ${only.join(', ')}.`]),
      `The traffic is SQL over \`numbers()\` with a seed (tests/bench/reports): one site for a year until ${TRAFFIC_END}, sessions of 1 to 170 hits, 50,000 paths of which few get most hits, events with properties, 3 % bots, half of the visitors cookieless and the others with four sessions each, 5 % of the rows up to 23 hours late, and identified visitors. It is inserted in chunks in the order of time, each with a token, so that all views are filled as by the writer. Then the slots of the days that are at least four days old are built.`,
      `Each report runs as for the admin API, but without HTTP, with embedded ClickHouse, and one at a time. Each report has a present time one second after that of the report before it, so that ClickHouse cannot use cached results again. As in a running process, a report begins with the facts that an earlier report on the period has read, and checks them (docs/decisions/0057). Reports also share the search for moved sessions for two minutes. The table "the first report of a process" shows times without earlier reports. One round is not counted, then ${rounds} are. p50 and p95 are the nearest ranks. The memory is the highest peak of one statement. It was read every 10 ms in the round that is not counted; "-" means that every statement ended before it was read. The bytes are uncompressed bytes that were read from tables. "refused": the report exceeded the limit of memory or time of a query.`,
      ...found.map((one) => `${sizeOf(one)}: before the reports, ${one.quiet}.`),
      'The CPU of the engine contains the SQL that generates the rows, and the merges until the tables are quiet. Two inserts run at once. The sizes of columns are those of `records` after each month was merged into one part with one file for each column.',
    ],
  };
}

const sizeOf = ({ rows }: ReportsFigures): string => `${showNumber(rows, 0)} rows`;

function storageTable(found: readonly ReportsFigures[]): Table {
  const names = [...new Set(found.flatMap(({ tables }) => tables.map(({ name }) => name)))];
  const perEvent = ({ tables, rows }: ReportsFigures, name: string | undefined): string => {
    const bytes = tables.reduce((sum, table) => sum + (name === undefined || table.name === name ? table.bytes : 0), 0);
    return showNumber(bytes / rows, 2);
  };
  return {
    head: ['bytes of an event', ...found.map(sizeOf)],
    rows: [
      ['all tables', ...found.map((figures) => perEvent(figures, undefined))],
      ...names.map((name) => [`\`${name}\``, ...found.map((figures) => perEvent(figures, name))]),
      ['CPU of the engine, µs per inserted row', ...found.map((one) => showNumber(one.engineMicrosPerRow, 2))],
      ['seconds to insert all rows', ...found.map(({ fillSeconds }) => showNumber(fillSeconds, 0))],
    ],
  };
}

function columnsTable(found: readonly ReportsFigures[]): Table {
  const names = [...new Set(found.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const perEvent = ({ columns, rows }: ReportsFigures, name: string): string =>
    showNumber((columns.find((column) => column.name === name)?.bytes ?? 0) / rows, 2);
  return {
    head: ['bytes of a column of `records`', ...found.map(sizeOf)],
    rows: names.map((name) => [`\`${name}\``, ...found.map((figures) => perEvent(figures, name))]),
  };
}

/** For each variant and period: p50 and p95 of the times of all reports, the highest memory, and the most bytes that one report read. */
function summaryTable(figures: ReportsFigures): Table {
  const rows = VARIANTS.flatMap(([variant]) =>
    PERIODS.map((period) => {
      const own = figures.reports.filter((one) => one.variant === variant && one.period === period);
      const ms = own.flatMap((one) => one.ms);
      return [
        variant,
        period,
        showNumber(rank(ms, 0.5), 0),
        showNumber(rank(ms, 0.95), 0),
        memory(Math.max(...own.map(({ peakBytes }) => peakBytes))),
        showNumber(Math.max(...own.map(({ readBytes }) => readBytes)) / MIB, 0),
        String(own.filter(({ refused }) => refused !== '').length),
      ];
    }),
  );
  return {
    head: [
      `all reports below, ${sizeOf(figures)}`,
      'period',
      'p50 ms',
      'p95 ms',
      'highest MiB',
      'most MiB read',
      'refused',
    ],
    rows,
  };
}

function firstTable(figures: ReportsFigures): Table {
  return {
    head: [
      `the first report of a process, ${sizeOf(figures)}: p50 / p95 ms`,
      ...figures.firstMs.map(({ period }) => period),
    ],
    rows: [
      [
        FIRST_REPORT,
        ...figures.firstMs.map(({ ms }) => `${showNumber(rank(ms, 0.5), 0)} / ${showNumber(rank(ms, 0.95), 0)}`),
      ],
    ],
  };
}

function detailTable(figures: ReportsFigures, variant: string): Table {
  return {
    head: [`${variant}, ${sizeOf(figures)}: p50 / p95 ms, MiB, MiB read`, ...PERIODS],
    rows: [...new Set(figures.reports.map(({ report }) => report))].map((report) => [
      report,
      ...PERIODS.map((period) => {
        const one = figures.reports.find(
          (candidate) => candidate.variant === variant && candidate.report === report && candidate.period === period,
        );
        return one === undefined ? '' : cellOf(one);
      }),
    ]),
  };
}

function cellOf({ ms, peakBytes, readBytes, refused }: ReportFigures): string {
  if (refused !== '') return `refused, ${memory(peakBytes)}`;
  const times = `${showNumber(rank(ms, 0.5), 0)} / ${showNumber(rank(ms, 0.95), 0)}`;
  return `${times}, ${memory(peakBytes)}, ${showNumber(readBytes / MIB, 0)}`;
}

const memory = (bytes: number): string => (bytes === 0 ? '-' : showNumber(bytes / MIB, 0));

/** Returns the quantile of the figures at this share (nearest rank). */
function rank(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Whether a report of 12 months has a higher limit: breakdowns by custom property, and breakdowns by page with a filter. */
function isSlow({ report, query }: ReportFigures): boolean {
  return report.startsWith('property:') || (report === 'page' && query.includes('filter='));
}

function targetsOf(figures: ReportsFigures): readonly Target[] {
  const size = sizeOf(figures);
  const slowest = (reports: readonly ReportFigures[]): number =>
    Math.max(0, ...reports.map(({ ms, refused }) => (refused === '' ? rank(ms, 0.95) : Number.POSITIVE_INFINITY)));
  const ofYear = figures.reports.filter(({ period }) => period === '12mo');
  const { short, year, slowYear } = figures.rows < LARGE_ROWS ? LIMITS : LARGE_LIMITS;
  const atMost = (what: string, value: number, max: number, unit: string): Target => ({
    what: `${size}: ${what}`,
    wanted: `<= ${max} ${unit}`,
    found: Number.isFinite(value) ? `${showNumber(value, 0)} ${unit}` : 'refused',
    met: value <= max,
  });
  const bytes = figures.tables.reduce((sum, table) => sum + table.bytes, 0) / figures.rows;
  const peak = Math.max(...figures.reports.map(({ peakBytes }) => peakBytes)) / MIB;
  return [
    atMost(
      'p95 of the slowest report up to 30 days',
      slowest(figures.reports.filter((one) => !ofYear.includes(one))),
      short,
      'ms',
    ),
    atMost('p95 of the slowest other report of 12 months', slowest(ofYear.filter((one) => !isSlow(one))), year, 'ms'),
    atMost(
      'p95 of the slowest breakdown by property, or by page with a filter, 12 months',
      slowest(ofYear.filter(isSlow)),
      slowYear,
      'ms',
    ),
    atMost('peak memory', peak, PEAK_MIB_MAX, 'MiB'),
    atMost('bytes of an event, all tables', bytes, EVENT_BYTES_MAX, 'bytes'),
  ];
}
