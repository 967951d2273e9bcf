import type { SealFigures, SealTask } from '../programs/measure-seal.ts';
import { type Spread, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const MICROS_MAX = 1;

export const seal: Scenario = {
  name: 'seal',
  about: 'CPU per record of encrypting and decrypting the client IP, compared with records with a plain address',
  rounds: 301,
  run,
};

async function run({ programs, rounds }: Bench): Promise<Findings> {
  const task: SealTask = { rounds };
  const figures = await programs.measure<SealFigures>('measure-seal', task);
  const of = (name: string): readonly number[] => figures[name] ?? [];
  /** The difference of two costs in each round, so that a slow phase of the machine affects both costs. */
  const more = (name: string, beside: string): Spread =>
    spreadOf(of(name).map((micros, round) => micros - (of(beside)[round] ?? Number.NaN)));
  const costs = {
    'encrypting an IPv4 address': more('encode, IPv4 encrypted', 'encode, IPv4 plain'),
    'decrypting an IPv4 address': more('decode, IPv4 decrypted', 'decode, IPv4 plain'),
    'encrypting an IPv6 address': more('encode, IPv6 encrypted', 'encode, IPv6 plain'),
    'decrypting an IPv6 address': more('decode, IPv6 decrypted', 'decode, IPv6 plain'),
  };
  return {
    tables: [
      {
        head: ['what', 'CPU µs per record'],
        rows: [
          ...Object.entries(figures).map(([name, micros]) => [name, showSpread(spreadOf(micros), 2)]),
          ...Object.entries(costs).map(([name, spread]) => [`${name}: the difference`, showSpread(spread, 2)]),
        ],
      },
    ],
    targets: Object.entries(costs).map(([name, spread]) => ({
      what: `${name}: difference to a plain one`,
      wanted: `<= ${MICROS_MAX} µs per record`,
      found: showSpread(spread, 2),
      met: spread.median <= MICROS_MAX,
    })),
    notes: [
      'Each difference is the median of the differences of the rounds. Plain: the same record with the address in plain text, as before addresses were encrypted.',
      'The figures are for whole records, as the gateway encodes and the enricher decodes them, including the work for keys, nonces and keystreams. Removing `context.ip` costs time only for bodies with `context.ip` or `ip`.',
    ],
  };
}
