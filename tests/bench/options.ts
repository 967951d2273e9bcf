import { parseArgs } from 'node:util';
import type { Scenario } from './scenario.ts';

export interface BenchOptions {
  readonly scenarios: readonly Scenario[];
  /** Undefined: each scenario's own number. */
  readonly rounds: number | undefined;
  readonly write: boolean;
  readonly help: boolean;
  /** Where to leave CPU profiles of every process that is measured. */
  readonly profileDir: string | undefined;
}

/** Throws with a text for people on anything it does not know. */
export function readOptions(args: readonly string[], all: readonly Scenario[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      write: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      'cpu-prof': { type: 'string' },
    },
  });
  const unknown = positionals.filter((name) => !all.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100)) {
    throw new Error('--rounds must be a whole number from 1 to 100');
  }
  if (values.write && positionals.length > 0) throw new Error('--write renews the whole page: name no scenario');
  return {
    scenarios: positionals.length === 0 ? all : all.filter((scenario) => positionals.includes(scenario.name)),
    rounds,
    write: values.write,
    help: values.help,
    profileDir: values['cpu-prof'],
  };
}

export function usage(all: readonly Scenario[]): string {
  return `usage: npm run bench [-- [SCENARIO …] [--rounds N] [--write] [--cpu-prof DIR]]

Measures Weir on this machine, beside a yardstick in the same rounds. No name: every scenario.

scenarios:
${all.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}

options:
  --rounds N      rounds of each scenario
  --write         renews docs/benchmarks.md (all scenarios)
  --cpu-prof DIR  leaves CPU profiles there (and makes everything slower), and prints where the time went
  --help          this text

examples:
  npm run bench -- gateway
  npm run bench -- enrich write --rounds 9
  npm run bench -- --write
`;
}
