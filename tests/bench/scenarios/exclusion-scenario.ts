import type { ExclusionFigures, ExclusionsTask } from '../programs/measure-exclusions.ts';
import { showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const RULES = 10_000;
const MICROS_MAX = 2;

export const exclusions: Scenario = {
  name: 'exclusions',
  about: 'CPU of the comparison of a hit with ten thousand exclusion rules',
  rounds: 5,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: ExclusionsTask = { rounds, rules: RULES };
  const { asked, compiled } = await programs.measure<ExclusionFigures>('measure-exclusions', task);
  const ipv4 = spreadOf(asked['10,000 CIDRs, IPv4 hits'] ?? []);
  return {
    tables: [
      {
        head: ['rules of the site', 'CPU µs per hit'],
        rows: Object.entries(asked).map(([name, micros]) => [name, showSpread(spreadOf(micros), 2)]),
      },
    ],
    targets: [
      {
        what: '10,000 CIDRs, an IPv4 hit',
        wanted: `<= ${MICROS_MAX} µs`,
        found: showSpread(ipv4, 2),
        met: ipv4.median <= MICROS_MAX,
      },
    ],
    notes: [
      `Compiling the 10,000 CIDRs again, which happens after each change of a rule, takes ${showSpread(spreadOf(compiled), 1)} ms of CPU.`,
      'Paths and user agents are repeated, as in real traffic: 500 paths and one user agent.',
    ],
  };
}
