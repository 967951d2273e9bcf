import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { ADMIN_TOKEN, startBareServer, startWholeWeir } from '../load/bench-servers.ts';
import { percentile, sendLoad } from '../load/http-load.ts';
import { COLLECT, EVENTS_WITH_KEY, type RequestKind } from '../load/load-requests.ts';
import { ratios, showSpread, spreadOf } from '../report/spread.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';

const CONNECTIONS = 64;
const REQUESTS = 10_000;
const WARM_UP_REQUESTS = 5_000;
const SINGLE_EVENTS = 5;
const POLL_MS = 5;

export const endToEnd: Scenario = {
  name: 'end-to-end',
  about:
    'accepted requests per second, latency of the answers, and time until rows can be queried, in one process with every role',
  rounds: 5,
  run,
};

interface Figures {
  readonly perSecond: number[];
  readonly p50: number[];
  readonly p99: number[];
}

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const weir = await startWholeWeir(programs);
  const bare = await startBareServer(programs);
  const client = createWeirClient([weir.url], ADMIN_TOKEN);
  const kinds = [EVENTS_WITH_KEY, COLLECT];
  const load = (port: number, kind: RequestKind, requests: number) =>
    sendLoad({ port, connections: CONNECTIONS, requests, status: kind.status, make: kind.make(weir.key) });

  let accepted = 0;
  for (const kind of kinds) {
    await load(bare.port, kind, WARM_UP_REQUESTS);
    await load(weir.port, kind, WARM_UP_REQUESTS);
    accepted += WARM_UP_REQUESTS;
  }
  await untilStored(client, accepted);

  const figures = new Map(
    kinds.map((kind) => [kind, { weir: newFigures(), bare: newFigures(), caughtUp: [] as number[] }]),
  );
  const single: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [kind, own] of figures) {
      for (const [server, figure] of [
        [bare, own.bare],
        [weir, own.weir],
      ] as const) {
        const { seconds, latenciesMs } = await load(server.port, kind, REQUESTS);
        figure.perSecond.push(REQUESTS / seconds);
        figure.p50.push(percentile(latenciesMs, 0.5));
        figure.p99.push(percentile(latenciesMs, 0.99));
      }
      accepted += REQUESTS;
      own.caughtUp.push(await untilStored(client, accepted));
      note(`${kind.name}: ${own.weir.perSecond.at(-1)?.toFixed(0)}/s`);
    }
    for (let n = 0; n < SINGLE_EVENTS; n++) {
      await load(weir.port, EVENTS_WITH_KEY, 1);
      accepted += 1;
      single.push(await untilStored(client, accepted));
    }
  }
  await weir.stop();
  await bare.stop();

  return {
    tables: [
      {
        head: [
          'requests',
          'accepted/s',
          'p50 ms',
          'p99 ms',
          'last row after',
          'accepted/s of the bare server',
          'p50 ms',
          'time compared with it',
        ],
        rows: [...figures].map(([kind, own]) => [
          kind.name,
          showSpread(spreadOf(own.weir.perSecond), 0),
          showSpread(spreadOf(own.weir.p50)),
          showSpread(spreadOf(own.weir.p99)),
          `${showSpread(spreadOf(own.caughtUp), 2)} s`,
          showSpread(spreadOf(own.bare.perSecond), 0),
          showSpread(spreadOf(own.bare.p50)),
          showSpread(ratios(own.bare.perSecond, own.weir.perSecond), 2),
        ]),
      },
      {
        head: ['one event, without other load', 'seconds from its answer until SQL finds it'],
        rows: [['events, idempotency_key', showSpread(spreadOf(single), 2)]],
      },
    ],
    targets: [],
    notes: [
      `${CONNECTIONS} persistent connections, each with one request at a time; ${REQUESTS} requests per round; ${rounds} rounds that alternate with the bare server. Client, Weir and its ClickHouse share the cores of this machine, and the enricher and the writer work during the load. The gateway alone could accept more.`,
      '"Last row after": the time from the last answer until `SELECT count()`, sent through the admin API, counts every accepted event.',
    ],
  };
}

function newFigures(): Figures {
  return { perSecond: [], p50: [], p99: [] };
}

/** Waits until this many events can be queried. Resolves with the waiting time in seconds. */
async function untilStored(client: WeirClient, events: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const found = await client.number("SELECT count() FROM events WHERE site_id = 'demo'");
    if (found > events) throw new Error(`${found} rows of ${events} events`);
    if (found === events) return (performance.now() - startedAt) / 1000;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
