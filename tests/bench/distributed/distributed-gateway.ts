import { type Server, startBareServer, startGateway } from '../load/bench-servers.ts';
import { sendLoad } from '../load/http-load.ts';
import { COLLECT, EVENTS, EVENTS_WITH_KEY, type RequestKind } from '../load/load-requests.ts';
import { ratios, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Table } from '../scenarios/scenario.ts';
import { openBenchLog } from './distributed-log.ts';
import { startRole } from './distributed-roles.ts';
import type { BenchServices } from './distributed-services.ts';

export const CONNECTIONS = 64;
export const REQUESTS = 6_000;
const WARM_UP_REQUESTS = 8_000;
const KINDS = [EVENTS, EVENTS_WITH_KEY, COLLECT];

type Measured = Pick<Server, 'port' | 'key' | 'cpuMicros'>;

/**
 * Measures the CPU per request of three servers in alternation: the gateway on Kafka and Redis, the gateway on the embedded engines, and the bare
 * server (programs/bare-server.ts).
 */
export async function measureGateways({ programs, rounds, note }: Bench, services: BenchServices): Promise<Table> {
  const prefix = 'gateway-';
  const log = await openBenchLog(services.env.KAFKA_BROKERS ?? '', prefix);
  const distributed = await startRole(programs, 'gateway', { ...services.env, KAFKA_TOPIC_PREFIX: prefix });
  const embedded = await startGateway(programs);
  const bare = await startBareServer(programs);
  const servers: readonly Measured[] = [{ ...distributed, key: log.key }, embedded, bare];
  for (const kind of KINDS) for (const server of servers) await costOf(server, kind, WARM_UP_REQUESTS);

  const rows: string[][] = [];
  const costs = KINDS.map(() => servers.map((): number[] => []));
  for (let round = 0; round < rounds; round++) {
    for (const [k, kind] of KINDS.entries()) {
      for (const [s, server] of servers.entries()) costs[k]?.[s]?.push(await costOf(server, kind, REQUESTS));
      note(`${kind.name}: ${costs[k]?.map((own) => own.at(-1)?.toFixed(1)).join(', ')} µs`);
    }
  }
  for (const [k, kind] of KINDS.entries()) {
    const [own = [], beside = [], yardstick = []] = costs[k] ?? [];
    rows.push([
      kind.name,
      ...[own, beside, yardstick].map((figures) => showSpread(spreadOf(figures))),
      showSpread(ratios(own, beside), 2),
      showSpread(ratios(own, yardstick), 2),
    ]);
  }
  for (const server of [distributed, embedded, bare]) await server.stop();
  await log.close();
  return {
    head: [
      'request',
      'Kafka + Redis µs',
      'embedded µs',
      'bare server µs',
      'compared with embedded',
      'compared with the bare server',
    ],
    rows,
  };
}

async function costOf({ port, key, cpuMicros }: Measured, kind: RequestKind, requests: number): Promise<number> {
  const before = await cpuMicros();
  await sendLoad({ port, connections: CONNECTIONS, requests, status: kind.status, make: kind.make(key) });
  return ((await cpuMicros()) - before) / requests;
}
