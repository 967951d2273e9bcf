import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@weir/runtime/config/config';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { ReplayArm, ReplayFigures, ReplayTask } from '../programs/measure-replay.ts';
import { ratios, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

/** The minimum speed of a replay, relative to the speed of direct inserts. */
const SPEED_MIN = 0.7;
/**
 * The minimum speed of a replay from `events.raw`. It is relative to the speed of the live enricher and writer, and also to that of the enricher
 * alone.
 */
const RAW_SPEED_MIN = 0.8;
/** With fewer rows, the time that creating the tables takes would count too much. */
const ROWS = 400_000;
const ROWS_FOR_MEMORY = 5_000_000;
const PARTITIONS = 4;
const INSERTS_AT_ONCE = 2;

export const replay: Scenario = {
  name: 'replay',
  about:
    'speed, CPU and memory of a replay: from the enriched topic compared with direct inserts of the same rows, and from raw compared with the enricher',
  rounds: 5,
  onlyByName: 'it fills tables several times, which takes minutes',
  run,
};

export const replayMemory: Scenario = {
  name: 'replay-memory',
  about: 'memory of a long replay from the enriched topic and from raw',
  rounds: 1,
  onlyByName: 'it fills and replays five million records, which takes a quarter of an hour',
  run: runForMemory,
};

function taskOf(programs: Bench['programs'], only: Pick<ReplayTask, 'rounds' | 'rows' | 'memoryOnly'>): ReplayTask {
  const { writerRowsMax: rowsMax, writerBytesMax: bytesMax, writerLingerMs: lingerMs } = loadConfig({}).batch;
  return {
    ...only,
    folder: programs.newFolder(),
    partitions: PARTITIONS,
    rowsMax,
    bytesMax,
    lingerMs,
    insertsAtOnce: INSERTS_AT_ONCE,
    clickhouseEntry: programs.path('clickhouse-server'),
    migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
  };
}

/**
 * The memory of a replay counts as constant if its last quarter needs at most this many times the memory of its second quarter. The first quarter
 * does not count, because it is the warm-up.
 */
const GROWTH_MAX = 1.1;

async function runForMemory({ programs, rounds, records: rows = ROWS_FOR_MEMORY }: Bench): Promise<Findings> {
  const task = taskOf(programs, { rounds, rows, memoryOnly: true });
  const { replay: own, raw, quarters, rawQuarters } = await programs.measure<ReplayFigures>('measure-replay', task);
  const lines = [
    { from: 'enriched', arm: own, memory: quarters },
    { from: 'raw', arm: raw, memory: rawQuarters },
  ];
  return {
    tables: [
      {
        head: [
          `replay of ${showNumber(rows, 0)} records`,
          'records/s',
          'highest anonymous memory, MiB, in',
          ...quarters.map((_, nth) => `quarter ${nth + 1}`),
        ],
        rows: lines.flatMap(({ from, arm, memory }) => [
          [
            `from ${from}`,
            showSpread(spreadOf(arm.seconds.map((took) => rows / took)), 0),
            'this process',
            ...memory.map(({ own: mebibytes }) => showNumber(mebibytes, 0)),
          ],
          ['', '', 'ClickHouse', ...memory.map(({ engine }) => showNumber(engine, 0))],
        ]),
      },
    ],
    targets: lines.flatMap(({ from, memory }) =>
      (['own', 'engine'] as const).map((whose) => {
        const growth = (memory.at(-1)?.[whose] ?? Number.NaN) / (memory[1]?.[whose] ?? Number.NaN);
        return {
          what: `memory of a replay from ${from}, ${whose === 'own' ? 'this process' : 'ClickHouse'}: quarter 4 compared with quarter 2`,
          wanted: `<= ${GROWTH_MAX} times`,
          found: `${showNumber(growth, 2)} times`,
          met: growth <= GROWTH_MAX,
        };
      }),
    ),
    notes: [
      'This process is the benchmark: it runs the event log, the registry, the replay and the writers. The mapped files of LMDB are not anonymous memory.',
    ],
  };
}

async function run({ programs, rounds, records: rows = ROWS }: Bench): Promise<Findings> {
  const task = taskOf(programs, { rounds, rows, memoryOnly: false });
  const { rowsMax } = task;
  const {
    origin,
    bytes,
    replay: own,
    direct,
    raw,
    enricher,
    live,
    quarters,
  } = await programs.measure<ReplayFigures>('measure-replay', task);
  const speed = ratios(direct.seconds, own.seconds);
  const rawSpeed = ratios(live.seconds, raw.seconds);
  const enricherSpeed = ratios(enricher.seconds, raw.seconds);
  const cpuOf = ({ own: process, engine }: ReplayArm) => process.map((micros, round) => micros + (engine[round] ?? 0));
  const row = (what: string, arm: ReplayArm): string[] => [
    what,
    showSpread(spreadOf(arm.seconds.map((took) => rows / took)), 0),
    showSpread(spreadOf(arm.own), 1),
    showSpread(spreadOf(arm.engine), 1),
  ];
  const compared = (what: string, arm: ReplayArm, beside: ReplayArm): string[] => [
    what,
    `speed ${showSpread(ratios(beside.seconds, arm.seconds), 2)}`,
    `CPU of both ${showSpread(ratios(cpuOf(arm), cpuOf(beside)), 2)}`,
    '',
  ];
  const cores = availableParallelism();
  const busyCores = spreadOf(
    cpuOf(raw).map((micros, round) => ((cores * 1e6) / micros) * ((enricher.seconds[round] ?? 0) / rows)),
  );
  return {
    tables: [
      {
        head: ['what', 'rows/s', 'CPU µs per row, this process', 'CPU µs per row, ClickHouse'],
        rows: [
          row('replay: create the shadow tables, read the log, plan, insert, commit, follow', own),
          row('direct: create the tables, insert prepared blocks with the same rows', direct),
          row('replay from raw: enrich the raw records again, append the outcomes, and all of the above', raw),
          row('live: enricher and writer as for live records, from a log with these raw records into new tables', live),
          row('the enricher alone, from a log with these raw records', enricher),
          compared('replay / direct', own, direct),
          compared('replay from raw / live', raw, live),
          compared('replay from raw / the enricher alone', raw, enricher),
        ],
      },
      {
        head: ['highest anonymous memory, MiB', ...quarters.map((_, nth) => `quarter ${nth + 1} of the last replay`)],
        rows: [
          ['this process', ...quarters.map(({ own: mebibytes }) => showNumber(mebibytes, 0))],
          ['ClickHouse', ...quarters.map(({ engine }) => showNumber(engine, 0))],
        ],
      },
    ],
    targets: [
      {
        what: 'a replay compared with direct inserts: speed',
        wanted: `>= ${SPEED_MIN} times`,
        found: `${showSpread(speed, 2)} times`,
        met: speed.median >= SPEED_MIN,
      },
      {
        what: 'a replay from raw compared with enricher and writer for live records: speed',
        wanted: `>= ${RAW_SPEED_MIN} times`,
        found: `${showSpread(rawSpeed, 2)} times`,
        met: rawSpeed.median >= RAW_SPEED_MIN,
      },
      {
        what: 'a replay from raw compared with the enricher alone: speed',
        wanted: `>= ${RAW_SPEED_MIN} times`,
        found: `${showSpread(enricherSpeed, 2)} times`,
        met: enricherSpeed.median >= RAW_SPEED_MIN,
      },
    ],
    notes: [
      `${showNumber(rows, 0)} rows per round (${showNumber(bytes / rows, 0)} bytes each): the enriched records of ${origin === 'real' ? 'the real access log' : 'a generated access log (WEIR_TEST_ACCESS_LOG is not set)'}, repeated many times, in ${PARTITIONS} partitions. Both sides fill a second, empty database with all tables and views, in blocks of ${rowsMax} rows, ${INSERTS_AT_ONCE} at a time, each with a token.`,
      `A replay from raw does the work of the enricher, and also appends, plans, inserts and commits. If it kept ${cores} cores always busy, it would reach ${showSpread(busyCores, 2)} times the speed of the enricher alone.`,
      'The time of the replay is the time from its request until it follows the live tables. It includes the waits of the leader of the replay, which acts once a second. There is no live traffic.',
    ],
  };
}
