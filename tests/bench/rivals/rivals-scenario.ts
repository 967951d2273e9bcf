import { type BenchServices, servicesMissing, startBenchServices } from '../distributed/distributed-services.ts';
import { loadText } from '../report/machine.ts';
import { intervalOf, ratioAtMost, ratiosByRound, showInterval, showSpread, spreadOf } from '../report/spread.ts';
import { type Comparison, precisionText, repeatUntilSteady } from '../report/steady-rounds.ts';
import type { Bench, Findings, Scenario } from '../scenarios/scenario.ts';
import { checkDuplicate, type RivalServer, sendAndCount, startAll } from './rival-servers.ts';

const CONNECTIONS = [64, 400] as const;
const REQUESTS = 12_000;
/**
 * A server waits for its next turn while the others are measured. V8 collects garbage in this pause, and then optimises code again: the first 4,000
 * requests of Weir take about twice as much CPU as later ones. So each round begins with requests that do not count.
 */
const REQUESTS_BEFORE = 6_000;
const WARM_UP_REQUESTS = 12_000;

/** The targets: for each rival, the maximum ratio of Weir's CPU to that of the rival. */
const TARGETS: readonly { readonly rival: string; readonly connections: number; readonly ratio: number }[] = [
  { rival: 'Fastify, one send per request', connections: 64, ratio: 0.4 },
  { rival: 'expert pipeline', connections: 64, ratio: 0.9 },
  { rival: 'expert pipeline', connections: 400, ratio: 1 },
];

export const rivals: Scenario = {
  name: 'rivals',
  about:
    'CPU per request of the gateway on Kafka and Redis, compared with simpler servers that a user could write instead',
  rounds: 40,
  onlyByName: 'needs Kafka and Redis here (npm run services:up installs nothing unless CI=true)',
  missing: servicesMissing,
  run,
};

/** The figures of one server with one number of connections. Each list has one number for each round. */
interface Figures {
  readonly server: RivalServer;
  readonly connections: number;
  readonly micros: number[];
  readonly kafkaMicros: number[];
  readonly redisMicros: number[];
  readonly perSecond: number[];
}

async function run(bench: Bench): Promise<Findings> {
  const services = await startBenchServices(['kafka', 'redis']);
  try {
    const servers = await startAll(bench.programs, services);
    for (const server of servers) {
      await checkDuplicate(server);
      await sendAndCount(server, WARM_UP_REQUESTS, CONNECTIONS[0]);
    }
    const all = await measure(bench, services, servers);
    for (const server of servers.toReversed()) await server.stop();
    return findings(all);
  } finally {
    await services.close();
  }
}

async function measure(
  { rounds, note }: Bench,
  services: BenchServices,
  servers: readonly RivalServer[],
): Promise<readonly Figures[]> {
  const all = CONNECTIONS.flatMap((connections) =>
    servers.map(
      (server): Figures => ({ server, connections, micros: [], kafkaMicros: [], redisMicros: [], perSecond: [] }),
    ),
  );
  await repeatUntilSteady({
    roundsMax: rounds,
    async measure() {
      for (const figures of all) await addRound(figures, services);
      return `${all.map(({ micros }) => micros.at(-1)?.toFixed(0)).join(', ')} µs`;
    },
    comparisons: () => comparisonsOf(all),
    note,
  });
  return all;
}

async function addRound(figures: Figures, services: BenchServices): Promise<void> {
  const { server, connections } = figures;
  const engines = (): number[] => [services.cpuMicros('kafka'), services.cpuMicros('redis')];
  await sendAndCount(server, REQUESTS_BEFORE, connections);
  const [kafka = 0, redis = 0] = engines();
  const before = await server.cpuMicros();
  const seconds = await sendAndCount(server, REQUESTS, connections);
  figures.micros.push(((await server.cpuMicros()) - before) / REQUESTS);
  const [kafkaAfter = 0, redisAfter = 0] = engines();
  figures.kafkaMicros.push((kafkaAfter - kafka) / REQUESTS);
  figures.redisMicros.push((redisAfter - redis) / REQUESTS);
  figures.perSecond.push(REQUESTS / seconds);
}

const isRival = ({ server }: Figures): boolean => server.name !== 'Weir';

const comparisonsOf = (all: readonly Figures[]): readonly Comparison[] =>
  all.filter(isRival).map((figures) => besideWeir(all, figures));

/** Weir's CPU compared with that of a rival. Each round gives one ratio, with the same number of connections. */
function besideWeir(all: readonly Figures[], { server, connections, micros }: Figures): Comparison {
  const weir = all.find((figures) => !isRival(figures) && figures.connections === connections);
  return {
    name: `${server.name} with ${connections} connections`,
    ratios: ratiosByRound(weir?.micros ?? [], micros),
  };
}

function findings(all: readonly Figures[]): Findings {
  const rows = all.map((figures) => [
    figures.server.name,
    String(figures.connections),
    showSpread(spreadOf(figures.micros)),
    isRival(figures) ? showInterval(intervalOf(besideWeir(all, figures).ratios)) : '',
    showSpread(spreadOf(figures.kafkaMicros)),
    showSpread(spreadOf(figures.redisMicros)),
    showSpread(spreadOf(figures.perSecond), 0),
  ]);
  const targets = TARGETS.map(({ rival, connections, ratio }) => {
    const figures = all.find(({ server, connections: own }) => server.name === rival && own === connections);
    const what = `CPU of Weir compared with: ${rival}, ${connections} connections`;
    return ratioAtMost(what, intervalOf(figures === undefined ? [] : besideWeir(all, figures).ratios), ratio);
  });
  const rounds = all[0]?.micros.length ?? 0;
  return {
    tables: [
      {
        head: ['server', 'connections', 'CPU µs', 'Weir / rival', 'broker CPU µs', 'Redis CPU µs', 'requests/s'],
        rows,
      },
    ],
    targets,
    notes: [
      `CPU (user and system, all threads) of each process divided by ${REQUESTS} server events with idempotency keys; median (min-max) of ${rounds} rounds. Each round measures every server with each number of connections, each time after ${REQUESTS_BEFORE} requests that do not count. ${precisionText(rounds, comparisonsOf(all))}`,
      `Kafka, Redis, the client and all servers share the cores of this machine. Load average after the rounds: ${loadText()}.`,
      'Each server checks an API key, counts a rate limit in Redis, validates the event with the same functions, claims the idempotency key in Redis, and answers after all in-sync replicas have the record. In each round, the number of records in the topic is compared with the number of answers 202. The second request with a key must get 200 and store nothing.',
      'The rivals are programs in `tests/bench/rivals`. They do not do everything that the gateway does: they do not encrypt the client IP, release no key after a failed append, have no metrics, no limit of waiting requests, and lose their protection against duplicates when they fail between the claim and the append. The expert pipeline handles no failure at all.',
    ],
  };
}
