import { join } from 'node:path';
import { loadConfig } from '@weir/runtime/config/config';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { Arm, WriteFigures, WriteTask } from '../programs/measure-write.ts';
import { intervalOf, ratioAtMost, showInterval, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import { type Comparison, precisionText } from '../report/steady-rounds.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const TIME_RATIO_MAX = 1.5;
const CPU_RATIO_MAX = 1.1;
const PARTITIONS = 4;
const BATCHES_PER_PARTITION = 2;
const INSERTS_AT_ONCE = 2;

export const write: Scenario = {
  name: 'write',
  about:
    'speed and CPU of the writer, from the event log to ClickHouse, compared with direct inserts of the same bytes',
  rounds: 15,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const { writerRowsMax: rowsMax, writerBytesMax: bytesMax, writerLingerMs: lingerMs } = loadConfig({}).batch;
  const task: WriteTask = {
    folder: programs.newFolder(),
    rounds,
    partitions: PARTITIONS,
    rowsPerPartition: BATCHES_PER_PARTITION * rowsMax,
    rowsMax,
    bytesMax,
    lingerMs,
    insertsAtOnce: INSERTS_AT_ONCE,
    clickhouseEntry: programs.path('clickhouse-server'),
    migrationsDir: join(PROJECT_ROOT, 'schemas/clickhouse'),
  };
  const figures = await programs.measure<WriteFigures>('measure-write', task);
  const { origin, rows, bytes, writer, direct, floor, time, cpu, floorCpu } = figures;
  const done = writer.seconds.length;
  const row = (what: string, arm: Arm): string[] => [
    what,
    showSpread(spreadOf(arm.seconds.map((seconds) => rows / seconds)), 0),
    showSpread(spreadOf(arm.own), 2),
    showSpread(spreadOf(arm.engine), 2),
    showSpread(spreadOf(arm.inserts), 0),
  ];
  const cell = ({ name, ratios }: Comparison): string => `${name} ${showInterval(intervalOf(ratios))}`;
  const target = ({ name, ratios }: Comparison, max: number) =>
    ratioAtMost(`the writer compared with direct inserts: ${name}`, intervalOf(ratios), max);
  return {
    tables: [
      {
        head: ['what', 'rows/s', 'CPU µs per row, this process', 'CPU µs per row, ClickHouse', 'inserts'],
        rows: [
          row('writer: read the log, plan, insert, commit', writer),
          row('direct: inserts of prepared blocks with the same rows', direct),
          row('writer with the fewest steps: read the log, insert, commit', floor),
          ['writer / direct', cell(time), cell(cpu), '', ''],
          ['fewest steps / direct', '', cell(floorCpu), '', ''],
        ],
      },
    ],
    targets: [target(time, TIME_RATIO_MAX), target(cpu, CPU_RATIO_MAX)],
    notes: [
      `${rows} rows per round (${showNumber(bytes / rows, 0)} bytes each): the enriched records of ${origin === 'real' ? 'the real access log' : 'a generated access log (WEIR_TEST_ACCESS_LOG is not set)'}, repeated many times, in ${PARTITIONS} partitions. All sides insert into the same table \`records\` with all its views, in blocks of ${rowsMax} rows, ${INSERTS_AT_ONCE} at a time, each with a token, through the same client. The bytes of the sides differ only in the ID of the log.`,
      `The time of the writer is the time from startWriter, with a full log, to the last commit. The rows of a round are full batches, so the writer does not linger (${lingerMs} ms) for an incomplete one. If the writer made more inserts than the direct side, some of its batches were not full. ${done} rounds after one round that is not counted. ${precisionText(done, [time, cpu, floorCpu])} The order of the sides changes in each round, and each waits until the merges of earlier inserts have ended.`,
      'The writer with the fewest steps does only what each writer with this log must do. It has no plans, so an insert that is repeated after a crash can have other rows. It does not check the headers of the records, and has no handling of failures.',
    ],
  };
}
