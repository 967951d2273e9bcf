import { parseArgs } from 'node:util';
import type { DayOptions } from './run-day.ts';

/** What the command line says. */
export interface DayCommand extends Omit<DayOptions, 'say'> {
  readonly help: boolean;
}

/** A run with fewer hours does not check whether the use of memory and disk stops growing. */
export const HOURS = 24;
const MINUTES = 45;

export const USAGE = `usage: npm run day [-- [--hours N] [--fill-hours N] [--minutes N] [--seed S]]

Sends honest and hostile traffic to a Weir with ${HOURS} simulated hours in a memory limit of 1 GB and 5 GB of disk, checks that nothing is lost and nothing is stored twice,
that no use of memory or disk grows without end, and updates docs/faults.md if all of this holds for at least ${HOURS} hours.

options:
  --hours N       the simulated hours that are measured; default ${HOURS}
  --fill-hours N  the simulated hours before them, in which everything fills that Weir keeps for a day; default ${HOURS}
  --minutes N     the real minutes for all hours; default ${MINUTES}
  --seed S        a whole number; the same number gives the same requests
  --help          this text
`;

/** Reads the command line. Throws if an argument is unknown or not allowed; the caller then prints the usage. */
export function readDayOptions(args: readonly string[]): DayCommand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hours: { type: 'string', default: String(HOURS) },
      'fill-hours': { type: 'string', default: String(HOURS) },
      minutes: { type: 'string', default: String(MINUTES) },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const number = (name: 'hours' | 'fill-hours' | 'minutes' | 'seed', least: number): number => {
    const value = Number(values[name]);
    if (!(value >= least && value <= 1_000_000))
      throw new Error(`--${name} must be a number from ${least} to 1,000,000`);
    return value;
  };
  return {
    hours: number('hours', 0.1),
    fillHours: number('fill-hours', 0),
    minutes: number('minutes', 0.1),
    seed: number('seed', 0),
    help: values.help,
  };
}
