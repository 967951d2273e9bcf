import { type Server, startBareServer, startGateway } from '../load/bench-servers.ts';
import { sendLoad } from '../load/http-load.ts';
import { COLLECT, EVENTS, EVENTS_WITH_KEY, type RequestKind } from '../load/load-requests.ts';
import {
  intervalOf,
  ratioAtMost,
  ratiosByRound,
  showInterval,
  showNumber,
  showSpread,
  spreadOf,
} from '../report/spread.ts';
import { type Comparison, precisionText, repeatUntilSteady } from '../report/steady-rounds.ts';
import { gatewayLatency } from './gateway-latency.ts';
import { gatewayParts } from './gateway-parts.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const CONNECTIONS = 64;
const REQUESTS = 8_000;
const WARM_UP_REQUESTS = 12_000;
const LATENCY_WINDOWS_MAX = 7;
/** The kinds of requests, each with the target: the maximum ratio of the CPU of the gateway to that of the bare server. */
const KINDS = [
  { kind: EVENTS, ratioMax: 1.5 },
  { kind: EVENTS_WITH_KEY, ratioMax: 1.8 },
  { kind: COLLECT, ratioMax: 1.6 },
] as const;

const HEAD = [
  'request',
  'gateway µs',
  'bare server µs',
  'ratio',
  'gateway with the fewest steps µs',
  'compared with the bare server',
];

export const gateway: Scenario = {
  name: 'gateway',
  about:
    'CPU per request of the gateway alone, compared with a bare node:http server that reads, parses and validates the same requests',
  rounds: 40,
  run,
};

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const weir = await startGateway(programs);
  const bare = await startBareServer(programs);
  const floor = await startBareServer(programs, { fewestSteps: true });
  const servers = [weir, bare, floor];
  for (const { kind } of KINDS) for (const server of servers) await costOf(server, kind, WARM_UP_REQUESTS);

  const costs = KINDS.map(({ kind, ratioMax }) => ({
    kind,
    ratioMax,
    own: [] as number[],
    beside: [] as number[],
    durable: [] as number[],
  }));
  const comparisons = (): readonly Comparison[] =>
    costs.map(({ kind, own, beside }) => ({ name: kind.name, ratios: ratiosByRound(own, beside) }));
  const done = await repeatUntilSteady({
    roundsMax: rounds,
    async measure() {
      for (const { kind, own, beside, durable } of costs) {
        own.push(await costOf(weir, kind, REQUESTS));
        beside.push(await costOf(bare, kind, REQUESTS));
        durable.push(await costOf(floor, kind, REQUESTS));
      }
      const last = (figures: readonly number[]): string => showNumber(figures.at(-1) ?? Number.NaN);
      return costs.map(({ kind, own, beside }) => `${kind.name} ${last(own)} and ${last(beside)} µs`).join(', ');
    },
    comparisons,
    note,
  });
  const batchRecords = await meanBatch(weir);
  const latency = await gatewayLatency(weir, bare, Math.min(rounds, LATENCY_WINDOWS_MAX));
  for (const server of servers) await server.stop();

  const ratios = comparisons().map((comparison) => intervalOf(comparison.ratios));
  const rows = costs.map(({ kind, own, beside, durable }, nth) => [
    kind.name,
    showSpread(spreadOf(own)),
    showSpread(spreadOf(beside)),
    showInterval(ratios[nth] ?? intervalOf([])),
    showSpread(spreadOf(durable)),
    showInterval(intervalOf(ratiosByRound(durable, beside))),
  ]);
  const targets = costs.map(({ kind, ratioMax }, nth) =>
    ratioAtMost(`${kind.name}: CPU compared with the bare server`, ratios[nth] ?? intervalOf([]), ratioMax),
  );
  const parts = await gatewayParts(programs, batchRecords);
  return {
    tables: [{ head: HEAD, rows }, ...latency.tables, parts.table],
    targets: [...targets, ...latency.targets],
    notes: [
      `CPU (user and system, all threads, getrusage) of the server's process divided by ${REQUESTS} requests per round; median (min-max) of ${done} rounds that alternate between the two servers. ${precisionText(done, comparisons())} ${CONNECTIONS} persistent connections from a third process, each with one request at a time. Before the first round, each server answers ${WARM_UP_REQUESTS} requests of each kind.`,
      'The gateway is `main.js gateway` with an empty data folder and high rate limits. It answers after the append was fsynced. The bare server has no framework, API key, rate limit, claim or event log. It uses `JSON.parse` and the same validation functions.',
      'The gateway with the fewest steps is the bare server, and also does the work that the guarantees of Weir need: it encrypts the client IP, claims and confirms idempotency keys, appends whole records to an event log of the same kind, in batches of 5 ms, and answers when they are durable. It has no framework, API keys, rate limits, metrics, limit of waiting requests or handling of failures.',
      ...latency.notes,
      ...parts.notes,
    ],
  };
}

async function costOf({ port, key, cpuMicros }: Server, kind: RequestKind, requests: number): Promise<number> {
  const before = await cpuMicros();
  await sendLoad({ port, connections: CONNECTIONS, requests, status: kind.status, make: kind.make(key) });
  return ((await cpuMicros()) - before) / requests;
}

/** The average number of records in an append of the gateway. */
async function meanBatch({ url }: Server): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const figure = (name: string): number =>
    Number(new RegExp(`^weir_gateway_append_batch_records_${name} (\\S+)`, 'm').exec(metrics)?.[1]);
  return figure('sum') / figure('count');
}
