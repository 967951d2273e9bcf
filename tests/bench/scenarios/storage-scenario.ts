import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { StorageTask, StoredFigures } from '../programs/measure-storage.ts';
import { showNumber, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario, Table, Target } from './scenario.ts';

const ROWS_DEFAULT = 500_000;
const LOG_ROWS = 100_000;
const SEED = 1;
const END = '2026-10-31T12:00:00Z';
/** The number of a migration. The present tables are compared with former tables, which have only the migrations before this one. */
const SINCE = '016';
const EVENT_BYTES_MAX = 60;
const CPU_RATIO_MAX = 0.7;

export const storage: Scenario = {
  name: 'storage',
  about:
    'bytes of an event by table and column, and the CPU of ClickHouse for an insert, compared with the tables before migration 016',
  rounds: 2,
  onlyByName: 'it fills all tables several times',
  run,
};

async function run({ programs, rounds, rows }: Bench): Promise<Findings> {
  const task: StorageTask = {
    folder: programs.newFolder(),
    rows: rows?.[0] ?? ROWS_DEFAULT,
    logRows: LOG_ROWS,
    rounds,
    seed: SEED,
    endMs: Date.parse(END),
    clickhouseEntry: programs.path('clickhouse-server'),
    migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
    since: SINCE,
  };
  const found = await programs.measure<readonly StoredFigures[]>('measure-storage', task);
  return {
    tables: [
      listTable('bytes of an event', found, ({ tables }) => tables, true),
      cpuTable(found),
      queryTable(found),
      listTable('bytes of a column of `records`', found, ({ columns }) => columns, false),
    ],
    targets: found.filter(({ side }) => side === 'present').flatMap((present) => targetsOf(present, found)),
    notes: [
      `Both sides have the same rows, as lines of the writer in blocks of 20,000 rows, 2 inserts at a time, in a database of their own. The sides take turns. "Former": the tables before migration ${SINCE}.`,
      `The generated traffic is that of the scenario reports. The access log is the real one if WEIR_TEST_ACCESS_LOG is set, repeated until there are ${showNumber(LOG_ROWS, 0)} rows: its visitors and sessions are the same in each copy.`,
      'The CPU is that of the engine until all merges have ended. The sizes of tables are those at that moment; the sizes of columns are those of one part for each month, with one file for each column.',
    ],
  };
}

const headOf = (found: readonly StoredFigures[]): readonly string[] =>
  found.map(({ traffic, side, rows }) => `${traffic}, ${side} (${showNumber(rows, 0)} rows)`);

function listTable(
  what: string,
  found: readonly StoredFigures[],
  of: (figures: StoredFigures) => Readonly<Record<string, number>>,
  withSum: boolean,
): Table {
  const names = [...new Set(found.flatMap((figures) => Object.keys(of(figures))))];
  const sum = (figures: StoredFigures): number => Object.values(of(figures)).reduce((all, one) => all + one, 0);
  return {
    head: [what, ...headOf(found)],
    rows: [
      ...(withSum ? [['all tables', ...found.map((figures) => showNumber(sum(figures), 2))]] : []),
      ...names.map((name) => [
        `\`${name}\``,
        ...found.map((figures) => (name in of(figures) ? showNumber(of(figures)[name] ?? 0, 2) : '-')),
      ]),
    ],
  };
}

function cpuTable(found: readonly StoredFigures[]): Table {
  return {
    head: ['CPU of the engine', ...headOf(found)],
    rows: [['µs per inserted row', ...found.map(({ micros }) => micros.map((one) => showNumber(one, 1)).join(', '))]],
  };
}

function queryTable(all: readonly StoredFigures[]): Table {
  const found = all.filter(({ traffic }) => traffic !== 'access log');
  return {
    head: ['ms of a query of a site with all of these rows', ...headOf(found)],
    rows: Object.keys(found[0]?.queries ?? {}).map((name) => [
      name,
      ...found.map(({ queries }) => showNumber(spreadOf(queries[name] ?? []).median, 0)),
    ]),
  };
}

function targetsOf(present: StoredFigures, found: readonly StoredFigures[]): readonly Target[] {
  const former = found.find(({ traffic, side }) => traffic === present.traffic && side === 'former');
  const bytes = Object.values(present.tables).reduce((all, one) => all + one, 0);
  const ratio = spreadOf(present.micros).median / spreadOf(former?.micros ?? []).median;
  return [
    {
      what: `${present.traffic}: bytes of an event, all tables`,
      wanted: `<= ${EVENT_BYTES_MAX} bytes`,
      found: `${showNumber(bytes, 1)} bytes`,
      met: bytes <= EVENT_BYTES_MAX,
    },
    {
      what: `${present.traffic}: CPU of the engine for an insert, beside the former tables`,
      wanted: `<= ${CPU_RATIO_MAX}`,
      found: showNumber(ratio, 2),
      met: ratio <= CPU_RATIO_MAX,
    },
  ];
}
