import { parseArgs } from 'node:util';

export interface FaultsOptions {
  /** The names of the faults to run, or, with `mutations`, of the mutations. If it is undefined, all of them run. */
  readonly only: readonly string[] | undefined;
  readonly rounds: number;
  readonly seed: number;
  /** How many clients send at the same time. */
  readonly clients: number;
  /** Runs the faults of a distributed Weir instead of those of a Weir on one machine. */
  readonly distributed: boolean;
  /** Runs the mutations instead of the faults. */
  readonly mutations: boolean;
  readonly list: boolean;
  readonly help: boolean;
}

const ROUNDS = 20;
export const CLIENTS = 8;
const CLIENTS_MAX = 100;

export const USAGE = `usage: npm run faults [-- [--distributed | --mutations] [--only NAME,NAME] [--rounds N] [--clients N] [--seed S] [--list]]

Makes faults happen to a Weir under load, checks that nothing is lost and nothing is stored twice, and updates docs/faults.md.

options:
  --only NAME,NAME  only these faults
  --rounds N        how often each fault happens; default ${ROUNDS}
  --clients N       how many clients send at the same time; default ${CLIENTS}
  --seed S          a whole number; the same number gives the same random moments
  --distributed     the faults of a deployment: each role in its own processes, with real Kafka, Redis and ClickHouse; CI=true installs them
  --mutations       removes one mechanism after the other from a copy of Weir, and checks that a fault then fails; --only names mutations
  --list            prints the faults, and why some of them cannot happen on this machine
  --help            this text
`;

/** Reads the command line. Throws if an argument is unknown or not allowed; the caller then prints the usage. */
export function readFaultsOptions(args: readonly string[]): FaultsOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: String(ROUNDS) },
      clients: { type: 'string', default: String(CLIENTS) },
      seed: { type: 'string' },
      distributed: { type: 'boolean', default: false },
      mutations: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 10_000)) {
    throw new Error('--rounds must be a whole number from 1 to 10,000');
  }
  const clients = Number(values.clients);
  if (!(Number.isInteger(clients) && clients >= 1 && clients <= CLIENTS_MAX)) {
    throw new Error(`--clients must be a whole number from 1 to ${CLIENTS_MAX}`);
  }
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number');
  const { distributed, mutations, list, help } = values;
  if (distributed && mutations)
    throw new Error('--distributed cannot be combined with --mutations, which runs faults of one machine');
  return { only: values.only?.split(','), rounds, seed, clients, distributed, mutations, list, help };
}
