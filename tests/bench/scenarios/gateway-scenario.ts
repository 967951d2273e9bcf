import { type Server, startBareServer, startGateway } from '../load/bench-servers.ts';
import { sendLoad } from '../load/http-load.ts';
import { COLLECT, EVENTS, EVENTS_WITH_KEY, type RequestKind } from '../load/load-requests.ts';
import { ratios, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import { gatewayLatency } from './gateway-latency.ts';
import { gatewayParts } from './gateway-parts.ts';
import type { Bench, Findings, Scenario, Target } from './scenario.ts';

const CONNECTIONS = 64;
const REQUESTS = 8_000;
const WARM_UP_REQUESTS = 12_000;
const RATIO_MAX = 2;
const KINDS = [EVENTS, EVENTS_WITH_KEY, COLLECT];

export const gateway: Scenario = {
  name: 'gateway',
  about:
    'CPU per request of the gateway alone, compared with a bare node:http server that reads, parses and validates the same requests',
  rounds: 7,
  run,
};

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const weir = await startGateway(programs);
  const bare = await startBareServer(programs);
  const servers = [weir, bare];
  for (const kind of KINDS) for (const server of servers) await costOf(server, kind, WARM_UP_REQUESTS);

  const cost = new Map(KINDS.map((kind) => [kind, { weir: [] as number[], bare: [] as number[] }]));
  for (let round = 0; round < rounds; round++) {
    for (const [kind, { weir: own, bare: beside }] of cost) {
      own.push(await costOf(weir, kind, REQUESTS));
      beside.push(await costOf(bare, kind, REQUESTS));
      note(`${kind.name}: ${showNumber(own.at(-1) ?? 0)} µs, bare server ${showNumber(beside.at(-1) ?? 0)} µs`);
    }
  }
  const batchRecords = await meanBatch(weir);
  const latency = await gatewayLatency(weir, rounds);
  for (const server of servers) await server.stop();

  const targets: Target[] = [];
  const rows = [...cost].map(([kind, { weir: own, bare: beside }]) => {
    const ratio = ratios(own, beside);
    targets.push({
      what: `${kind.name}: CPU compared with the bare server`,
      wanted: `<= ${RATIO_MAX.toFixed(1)} times`,
      found: `${showSpread(ratio, 2)} times`,
      met: ratio.median <= RATIO_MAX,
    });
    return [kind.name, showSpread(spreadOf(own)), showSpread(spreadOf(beside)), showSpread(ratio, 2)];
  });
  const parts = await gatewayParts(programs, batchRecords);
  return {
    tables: [{ head: ['request', 'gateway µs', 'bare server µs', 'ratio'], rows }, ...latency.tables, parts.table],
    targets: [...targets, ...latency.targets],
    notes: [
      `CPU (user and system, all threads, getrusage) of the server's process divided by ${REQUESTS} requests per round; median (min-max) of ${rounds} rounds that alternate between the two servers. ${CONNECTIONS} persistent connections from a third process, each with one request at a time. Before the first round, each server answers ${WARM_UP_REQUESTS} requests of each kind.`,
      'The gateway is `main.js gateway` with an empty data folder and high rate limits. It answers after the append was fsynced. The bare server has no framework, API key, rate limit, claim or event log. It uses `JSON.parse` and the same validation functions.',
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
