import type { EnrichFigures, EnrichTask } from '../programs/measure-enrich.ts';
import { ratios, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const STEP_PER_SECOND_MIN = 60_000;
const LOOP_PER_SECOND_MIN = 30_000;
const PARTITIONS = 4;
const COPIES = 10;

export const enrich: Scenario = {
  name: 'enrich',
  about: 'CPU per record of the enriching step and of the enricher with the event log, on a real access log',
  rounds: 7,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: EnrichTask = { folder: programs.newFolder(), rounds, partitions: PARTITIONS, copies: COPIES };
  const figures = await programs.measure<EnrichFigures>('measure-enrich', task);
  const row = (what: string, micros: readonly number[]): string[] => [
    what,
    showSpread(spreadOf(micros), 2),
    showSpread(spreadOf(micros.map((one) => 1e6 / one)), 0),
    showSpread(ratios(micros, figures.bare), 2),
  ];
  const target = (what: string, micros: readonly number[], wanted: number) => {
    const perSecond = spreadOf(micros.map((one) => 1e6 / one));
    return {
      what,
      wanted: `>= ${showNumber(wanted, 0)} records/s and core`,
      found: showSpread(perSecond, 0),
      met: perSecond.median >= wanted,
    };
  };
  return {
    tables: [
      {
        head: ['what', 'CPU µs a record', 'records/s and core', 'beside the yardstick'],
        rows: [
          row('yardstick: parse the record, write its row as JSON', figures.bare),
          row('the step: read + finish, caches warm', figures.warm),
          row('the step, all its caches new', figures.newCaches),
          row('the enricher: log read, state, step, durable append, commit', figures.loop),
          ['the step, first pass of the process (cold code, cold caches)', showNumber(figures.firstPass, 2), '', ''],
        ],
      },
    ],
    targets: [
      target('the enriching step', figures.warm, STEP_PER_SECOND_MIN),
      target('the enriching step, all its caches new', figures.newCaches, STEP_PER_SECOND_MIN),
      target('the enricher, event log included', figures.loop, LOOP_PER_SECOND_MIN),
    ],
    notes: [
      figures.origin === 'real'
        ? `Traffic: the ${figures.records} page views of apache_logs of elastic/examples as import hits.`
        : `Traffic: WEIR_TEST_ACCESS_LOG is not set, so ${figures.records} page views of a generated log of the same shape, with 4 user agents instead of hundreds.`,
      `CPU (user and system, all threads, lmdb's own included, getrusage) over records; ${rounds} rounds after one that is not counted, each running all of them in turn. "Caches new" starts each round with empty look-up caches (user agents, places, URLs, referrers).`,
      `The enricher: startEnricher on lmdb, ${PARTITIONS} partitions, ${figures.loopRecords} records a round in a new folder with new caches: the log's traffic ${COPIES} times as ${COPIES} files.`,
    ],
  };
}
