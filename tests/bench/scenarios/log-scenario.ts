import type { Cost, LogFigures, LogTask } from '../programs/measure-log.ts';
import { ratios, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const VALUE_BYTES = 500;
const BATCHES = [
  { records: 1, atOnce: 1, total: 500 },
  { records: 1, atOnce: 64, total: 6_400 },
  { records: 32, atOnce: 2, total: 19_200 },
  { records: 512, atOnce: 2, total: 51_200 },
  { records: 4_096, atOnce: 2, total: 65_536 },
];

export const log: Scenario = {
  name: 'log',
  about:
    'speed of durable appends to the embedded event log and of reading it, compared with a plain file with fdatasync',
  rounds: 5,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: LogTask = { folder: programs.newFolder(), rounds, valueBytes: VALUE_BYTES, batches: BATCHES };
  const figures = await programs.measure<LogFigures>('measure-log', task);
  const row = (what: string, cost: Cost, yardstick: Cost): string[] => [
    what,
    showSpread(spreadOf(cost.perSecond), 0),
    showSpread(spreadOf(cost.micros), 2),
    showSpread(spreadOf(yardstick.micros), 2),
    showSpread(ratios(yardstick.perSecond, cost.perSecond), 2),
  ];
  return {
    tables: [
      {
        head: ['what', 'records/s', 'CPU µs per record', 'plain file: CPU µs', 'time compared with the plain file'],
        rows: [
          ...BATCHES.map(({ records, atOnce }, index) => {
            const { log: own, file } = figures.append[index] as LogFigures['append'][number];
            return row(`${records} records per append, ${atOnce} concurrent appends`, own, file);
          }),
          row('consume, with a commit for each batch', figures.consume, figures.readFile),
        ],
      },
    ],
    targets: [],
    notes: [
      `Records of ${VALUE_BYTES} bytes in 4 partitions. An append ends when it is fsynced. CPU: user and system time of all threads. ${rounds} rounds after one round that is not counted.`,
      'The plain file: the same bytes are written with write(2), with one fdatasync for all concurrent writes. To consume, the file is read as a whole and divided into records. It has no partitions, offsets, keys, headers or commits.',
    ],
  };
}
