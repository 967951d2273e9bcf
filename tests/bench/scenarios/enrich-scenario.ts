import type { EnrichFigures, EnrichTask } from '../programs/measure-enrich.ts';
import { intervalOf, showInterval, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import { type Comparison, precisionText } from '../report/steady-rounds.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const WARM_PER_SECOND_MIN = 150_000;
const NEW_CACHES_PER_SECOND_MIN = 60_000;
const LOOP_PER_SECOND_MIN = 80_000;
const PARTITIONS = 4;
const COPIES = 10;

export const enrich: Scenario = {
  name: 'enrich',
  about: 'CPU per record of the enrichment alone and of the enricher with the event log, with a real access log',
  rounds: 40,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: EnrichTask = { folder: programs.newFolder(), rounds, partitions: PARTITIONS, copies: COPIES };
  const figures = await programs.measure<EnrichFigures>('measure-enrich', task);
  const [warm, newCaches, loop, floor] = figures.comparisons;
  const done = figures.bare.length;
  const row = (what: string, micros: readonly number[], beside?: Comparison): string[] => [
    what,
    showSpread(spreadOf(micros), 2),
    showSpread(spreadOf(micros.map((one) => 1e6 / one)), 0),
    beside === undefined ? '' : showInterval(intervalOf(beside.ratios)),
  ];
  const target = (what: string, micros: readonly number[], wanted: number) => {
    const perSecond = spreadOf(micros.map((one) => 1e6 / one));
    return {
      what,
      wanted: `>= ${showNumber(wanted, 0)} records/s per core`,
      found: showSpread(perSecond, 0),
      met: perSecond.median >= wanted,
    };
  };
  return {
    tables: [
      {
        head: ['what', 'CPU µs per record', 'records/s per core', 'compared with the baseline'],
        rows: [
          row('baseline: parse the record, write its row as JSON', figures.bare),
          row('the enrichment: decode and run the steps, with filled caches', figures.warm, warm),
          row('the enrichment, with empty caches', figures.newCaches, newCaches),
          row('the enricher: read the log and the state, enrich, append durably, commit', figures.loop, loop),
          row('the enricher with the fewest steps (see below)', figures.floor, floor),
          [
            'the enrichment, first round of the process (cold code, empty caches)',
            showNumber(figures.firstPass, 2),
            '',
            '',
          ],
        ],
      },
    ],
    targets: [
      target('the enrichment, with filled caches', figures.warm, WARM_PER_SECOND_MIN),
      target('the enrichment, with empty caches', figures.newCaches, NEW_CACHES_PER_SECOND_MIN),
      target('the enricher, with the event log', figures.loop, LOOP_PER_SECOND_MIN),
    ],
    notes: [
      figures.origin === 'real'
        ? `Traffic: the ${figures.records} page views of the file apache_logs of elastic/examples, as hits of an import.`
        : `Traffic: WEIR_TEST_ACCESS_LOG is not set, so ${figures.records} page views of a generated log of the same shape are used. It has 4 user agents instead of hundreds.`,
      `CPU (user and system time of all threads, including LMDB's, from getrusage) per record; ${done} rounds after one round that is not counted. Each round runs all variants in turn. ${precisionText(done, figures.comparisons)} "Empty caches": each round starts with empty caches of user agents, locations, URLs and referrers. Creating the enrichment is not counted: it reads the lists of sources, once for each process or replay. The texts of the geo data that were found before stay decoded; without them, there was no difference.`,
      `The enricher: startEnricher with LMDB, ${PARTITIONS} partitions, ${figures.loopRecords} records per round in a new folder and with empty caches. The traffic of the log is repeated ${COPIES} times. With the fewest steps: only what each enricher with this log and this enrichment must do. It reads and decompresses, runs the same steps with empty caches, compresses and appends durably, and commits. Its state is in memory, and it has no handling of failures.`,
    ],
  };
}
