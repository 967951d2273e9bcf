import { join } from 'node:path';
import { loadConfig } from '@weir/runtime/config/config';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { Arm, WriteFigures, WriteTask } from '../programs/measure-write.ts';
import { ratios, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const RATIO_MAX = 1.5;
const PARTITIONS = 4;
const BATCHES_PER_PARTITION = 2;
const INSERTS_AT_ONCE = 2;

export const write: Scenario = {
  name: 'write',
  about: 'the writer from log to ClickHouse, beside inserting the same bytes directly',
  rounds: 5,
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
  const { origin, rows, bytes, writer, direct } = await programs.measure<WriteFigures>('measure-write', task);
  const cpu = ({ own, engine }: Arm): number[] => own.map((micros, round) => micros + (engine[round] ?? 0));
  const time = ratios(writer.seconds, direct.seconds);
  const work = ratios(cpu(writer), cpu(direct));
  const row = (what: string, arm: Arm): string[] => [
    what,
    showSpread(spreadOf(arm.seconds.map((seconds) => rows / seconds)), 0),
    showSpread(spreadOf(arm.own), 2),
    showSpread(spreadOf(arm.engine), 2),
    showSpread(spreadOf(arm.inserts), 0),
  ];
  const target = (what: string, ratio: typeof time) => ({
    what: `the writer beside direct inserts: ${what}`,
    wanted: `<= ${RATIO_MAX} times`,
    found: `${showSpread(ratio, 2)} times`,
    met: ratio.median <= RATIO_MAX,
  });
  return {
    tables: [
      {
        head: ['what', 'rows/s', 'CPU µs a row, this process', 'CPU µs a row, ClickHouse', 'inserts'],
        rows: [
          row('writer: log read, plan, insert, commit', writer),
          row('direct: ready blocks of the same rows', direct),
          ['writer / direct', `time ${showSpread(time, 2)}`, `CPU ${showSpread(work, 2)}`, '', ''],
        ],
      },
    ],
    targets: [target('time', time), target('CPU', work)],
    notes: [
      `${rows} rows a round (${showNumber(bytes / rows, 0)} bytes each): what the enricher makes of ${origin === 'real' ? 'the real access log' : 'a generated access log (WEIR_TEST_ACCESS_LOG is not set)'}, many times over, in ${PARTITIONS} partitions. Both sides insert into the same table \`records\` with all its views, in blocks of ${rowsMax} rows, ${INSERTS_AT_ONCE} at once, each with a token, through the same client. The two sides' bytes differ in the log's ID alone.`,
      `The writer's time runs from startWriter on a full log to the last commit; the rows of a round are whole batches, so it need not linger (${lingerMs} ms) for a last one; more inserts than the direct side made mean that it cut batches early. ${rounds} rounds after one that is not counted; who goes first alternates, and each waits until the merges of what came before are over.`,
    ],
  };
}
