import { parseArgs } from 'node:util';
import type { Scenario } from './scenarios/scenario.ts';

export interface BenchOptions {
  readonly scenarios: readonly Scenario[];
  /** If it is undefined, each scenario uses its own number of rounds. */
  readonly rounds: number | undefined;
  /** If it is undefined, each scenario uses its own number of records. */
  readonly records: number | undefined;
  /** If it is undefined, each scenario uses its own number of rows. */
  readonly rows: readonly number[] | undefined;
  /** The names of the reports to measure. If it is undefined, all reports are measured. */
  readonly reports: readonly string[] | undefined;
  /** The folder in which `reports`, `history`, `dashboard`, `dashboards` and `late` keep their tables. If it is undefined, they are deleted. */
  readonly folder: string | undefined;
  /** The maximum time to wait for a low load of the machine before each scenario. */
  readonly quietSeconds: number;
  readonly write: boolean;
  readonly help: boolean;
  /** The folder for CPU profiles of every measured process. */
  readonly profileDir: string | undefined;
}

/** Reads the command line. Throws if an argument is unknown or not allowed; the caller then prints the usage. */
export function readOptions(args: readonly string[], all: readonly Scenario[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      write: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      records: { type: 'string' },
      rows: { type: 'string' },
      reports: { type: 'string' },
      folder: { type: 'string' },
      'quiet-seconds': { type: 'string', default: '600' },
      'cpu-prof': { type: 'string' },
    },
  });
  const unknown = positionals.filter((name) => !all.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100)) {
    throw new Error('--rounds must be a whole number from 1 to 100');
  }
  const records = values.records === undefined ? undefined : Number(values.records);
  if (records !== undefined && !(Number.isInteger(records) && records >= 1_000 && records <= 100_000_000)) {
    throw new Error('--records must be a whole number from 1,000 to 100,000,000');
  }
  const quietSeconds = Number(values['quiet-seconds']);
  if (!(Number.isInteger(quietSeconds) && quietSeconds >= 0 && quietSeconds <= 86_400)) {
    throw new Error('--quiet-seconds must be a whole number from 0 to 86,400');
  }
  const rows = values.rows?.split(',').map(Number);
  if (rows?.some((count) => !(Number.isInteger(count) && count >= 10_000 && count <= 1_000_000_000))) {
    throw new Error('--rows must be whole numbers from 10,000 to 1,000,000,000, separated by commas');
  }
  const named = all.filter((scenario) => positionals.includes(scenario.name));
  return {
    scenarios: positionals.length === 0 ? all.filter(({ onlyByName }) => onlyByName === undefined) : named,
    rounds,
    records,
    rows,
    reports: values.reports?.split(','),
    folder: values.folder,
    quietSeconds,
    write: values.write,
    help: values.help,
    profileDir: values['cpu-prof'],
  };
}

export function usage(all: readonly Scenario[]): string {
  return `usage: npm run bench [-- [SCENARIO …] [--rounds N] [--write] [--cpu-prof DIR]]

Measures Weir and a baseline on this machine, in alternating rounds. Without a name, runs every scenario except those that run only by name.

scenarios:
${all.map(({ name, about, onlyByName }) => `  ${name.padEnd(16)}${about}${onlyByName === undefined ? '' : `; runs only by name: ${onlyByName}`}`).join('\n')}

options:
  --rounds N      rounds of each scenario; for "gateway", "enrich", "write", "end-to-end" and "rivals" the maximum: after five rounds they end as soon as the 95 % intervals of all ratios are within ± 5 %
  --records N     the backlog of "distributed" (default 2,000,000), the records of "replay" (400,000), "replay-memory" (5,000,000), "replay-live" and "replay-live-raw" (200,000)
  --rows N,N      the sizes of the tables of "reports" (default 1,000,000), or the numbers of rows of "scale" (default 1,000,000,10,000,000; at least 1,000,000); "history", "dashboard", "dashboards" (default 10,000,000) and "late" (1,000,000) use only the first size
  --reports A,B   only these reports of "reports" (default all) and "history" (default seven): stats, or dimensions of breakdowns; or of "late" (default all): the names in its table
  --folder DIR    "reports", "history", "dashboard", "dashboards" and "late" keep their tables there, for each number of rows, and do not fill them again if they are already there
  --quiet-seconds N
                  wait at most so long before each scenario until the load average is below 0.5; default 600, 0: never wait
  --write         renews the sections of these scenarios in docs/benchmarks.md
  --cpu-prof DIR  leaves CPU profiles there (and makes everything slower), and prints where the time went
  --help          this text

examples:
  npm run bench -- gateway
  npm run bench -- enrich write --rounds 9
  npm run bench -- --write
  npm run bench -- distributed --records 200000
  npm run bench -- late --rows 1000000
  npm run bench -- reports --rows 1000000,10000000 --write
  npm run bench -- reports --rows 100000000 --reports none --folder /tmp/tables, and then again with --reports stats,page --rounds 1
`;
}
