import type { SealFigures, SealTask } from '../programs/measure-seal.ts';
import { type Spread, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const MICROS_MAX = 1;

export const seal: Scenario = {
  name: 'seal',
  about: 'CPU per record of sealing and opening the address of a client, beside records with a plain address',
  rounds: 301,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: SealTask = { rounds };
  const figures = await programs.measure<SealFigures>('measure-seal', task);
  const of = (name: string): readonly number[] => figures[name] ?? [];
  /** Round by round, so that what slowed a whole round down cancels out. */
  const more = (name: string, beside: string): Spread =>
    spreadOf(of(name).map((micros, round) => micros - (of(beside)[round] ?? Number.NaN)));
  const costs = {
    'sealing an IPv4 address': more('encode, IPv4 sealed', 'encode, IPv4 plain'),
    'opening an IPv4 address': more('decode, IPv4 opened', 'decode, IPv4 plain'),
    'sealing an IPv6 address': more('encode, IPv6 sealed', 'encode, IPv6 plain'),
    'opening an IPv6 address': more('decode, IPv6 opened', 'decode, IPv6 plain'),
  };
  return {
    tables: [
      {
        head: ['what', 'CPU µs a record'],
        rows: [
          ...Object.entries(figures).map(([name, micros]) => [name, showSpread(spreadOf(micros), 2)]),
          ...Object.entries(costs).map(([name, spread]) => [`${name}: the difference`, showSpread(spread, 2)]),
        ],
      },
    ],
    targets: Object.entries(costs).map(([name, spread]) => ({
      what: `${name}, beside a plain one`,
      wanted: `<= ${MICROS_MAX} µs a record`,
      found: showSpread(spread, 2),
      met: spread.median <= MICROS_MAX,
    })),
    notes: [
      'Each difference is the median of the differences round by round. Plain: the same record with the address in plain text, as before sealing.',
      'Whole records, as the gateway encodes and the enricher decodes them; keys, nonces and keystreams included. Only bodies that hold `context.ip` or `ip` pay for taking it out.',
    ],
  };
}
