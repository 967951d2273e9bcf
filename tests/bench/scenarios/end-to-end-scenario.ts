import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { ADMIN_TOKEN, type Server, startBareServer, startWholeWeir } from '../load/bench-servers.ts';
import { percentile, sendLoad } from '../load/http-load.ts';
import { COLLECT, EVENTS_WITH_KEY, type RequestKind } from '../load/load-requests.ts';
import { busyCoreMs } from '../report/machine.ts';
import { intervalOf, ratiosByRound, showInterval, showNumber, showSpread, spreadOf } from '../report/spread.ts';
import { type Comparison, precisionText, repeatUntilSteady } from '../report/steady-rounds.ts';
import type { Bench, Findings, Scenario, Target } from './scenario.ts';
import { visibleLatency } from './visible-latency.ts';

const KINDS = [EVENTS_WITH_KEY, COLLECT];
/** The numbers of connections, each with the number of requests in a round. A round takes several seconds. */
const LOADS = [
  { connections: 64, requests: 30_000 },
  { connections: 400, requests: 60_000 },
] as const;
const WARM_UP_REQUESTS = 10_000;
const SINGLE_EVENTS = 5;
const VISIBLE_WINDOWS_MAX = 5;
const SITE = 'demo';
/** The pause between two counts of all rows. A measured time can be too long by this value and the time of a count. */
const POLL_MS = 5;
const STORED_PER_SECOND_MIN = 14_000;
const STORED_TARGET = { kind: EVENTS_WITH_KEY, connections: 400 };

export const endToEnd: Scenario = {
  name: 'end-to-end',
  about:
    'stored requests per second, latency of the answers, and time until rows can be queried, in one process with every role',
  rounds: 10,
  run,
};

/** The figures of one kind of requests with one number of connections. Each list has one number for each round. */
interface Figures {
  readonly kind: RequestKind;
  readonly connections: number;
  readonly requests: number;
  readonly perSecond: number[];
  /** The number of requests divided by the time from the first request until SQL counts all of them. */
  readonly storedPerSecond: number[];
  readonly p50: number[];
  readonly p99: number[];
  readonly lastRowSeconds: number[];
  /** The number of cores that were busy, with any process, from the first request until SQL counts all requests. */
  readonly busyCores: number[];
  readonly barePerSecond: number[];
  readonly bareP50: number[];
}

async function run({ programs, rounds, note }: Bench): Promise<Findings> {
  const weir = await startWholeWeir(programs);
  const bare = await startBareServer(programs);
  const client = createWeirClient([weir.url], ADMIN_TOKEN);
  const send = ({ port, key }: Server, kind: RequestKind, connections: number, requests: number) =>
    sendLoad({ port, connections, requests, status: kind.status, make: kind.make(key) });

  let accepted = 0;
  for (const kind of KINDS) {
    for (const { connections } of LOADS) {
      await send(bare, kind, connections, WARM_UP_REQUESTS);
      await send(weir, kind, connections, WARM_UP_REQUESTS);
      accepted += WARM_UP_REQUESTS;
    }
  }
  await untilStored(client, accepted);

  const all = KINDS.flatMap((kind) => LOADS.map((load) => newFigures(kind, load)));
  const single: number[] = [];
  const done = await repeatUntilSteady({
    roundsMax: rounds,
    async measure() {
      for (const figures of all) await addRound(figures);
      for (let n = 0; n < SINGLE_EVENTS; n++) {
        await send(weir, EVENTS_WITH_KEY, 1, 1);
        accepted += 1;
        single.push(await untilStored(client, accepted));
      }
      return `${all.map(({ storedPerSecond }) => showNumber(storedPerSecond.at(-1) ?? Number.NaN, 0)).join(', ')} stored/s`;
    },
    comparisons: () => all.map(besideBare),
    note,
  });
  const visible = await visibleLatency(weir, client, SITE, Math.min(rounds, VISIBLE_WINDOWS_MAX));
  accepted += visible.accepted;
  await untilStored(client, accepted);
  await weir.stop();
  await bare.stop();

  return {
    tables: [
      loadTable(all),
      {
        head: ['one event, without other load', 'seconds from its answer until SQL finds it'],
        rows: [[EVENTS_WITH_KEY.name, showSpread(spreadOf(single), 2)]],
      },
      ...visible.tables,
    ],
    targets: [storedTarget(all), ...visible.targets],
    notes: [
      `Persistent connections, each with one request at a time; ${LOADS.map(({ connections, requests }) => `${showNumber(requests, 0)} requests with ${connections} connections`).join(', ')} per round; ${done} rounds that alternate with the bare server. ${precisionText(done, all.map(besideBare))} The ratio is the time of Weir until the last answer, divided by that of the bare server. Client, Weir and its ClickHouse share the cores of this machine, and the enricher and the writer work during the load. The gateway alone could accept more.`,
      '"Stored/s": the number of requests divided by the time from the first request until `SELECT count()`, sent through the admin API, counts every accepted event. "Last row after": the part of this time that follows the last answer.',
      'A connection waits for each answer before it sends its next request, so the rate is the number of connections divided by the mean latency. With 64 connections, the latency of an answer bounds the rate: the gateway does not have enough requests at the same time to use the machine fully, and the same machine accepts more with 400 connections. So the rows with 64 connections do not show how much the machine can process. "Busy cores": the cores that any process of this machine used, until all rows were stored.',
      ...visible.notes,
    ],
  };

  async function addRound(figures: Figures): Promise<void> {
    const { kind, connections, requests } = figures;
    const beside = await send(bare, kind, connections, requests);
    figures.barePerSecond.push(requests / beside.seconds);
    figures.bareP50.push(percentile(beside.latenciesMs, 0.5));
    const busyBefore = busyCoreMs();
    const own = await send(weir, kind, connections, requests);
    accepted += requests;
    figures.lastRowSeconds.push(await untilStored(client, accepted));
    const storedMs = performance.now() - own.startedAtMs;
    figures.storedPerSecond.push((1000 * requests) / storedMs);
    figures.busyCores.push((busyCoreMs() - busyBefore) / storedMs);
    figures.perSecond.push(requests / own.seconds);
    figures.p50.push(percentile(own.latenciesMs, 0.5));
    figures.p99.push(percentile(own.latenciesMs, 0.99));
  }
}

const newFigures = (kind: RequestKind, load: (typeof LOADS)[number]): Figures => ({
  ...{ kind, ...load, perSecond: [], storedPerSecond: [], p50: [], p99: [] },
  ...{ lastRowSeconds: [], busyCores: [], barePerSecond: [], bareP50: [] },
});

/** The time until the last answer, compared with that of the bare server. */
const besideBare = ({ kind, connections, perSecond, barePerSecond }: Figures): Comparison => ({
  name: `${kind.name} with ${connections} connections`,
  ratios: ratiosByRound(barePerSecond, perSecond),
});

function loadTable(all: readonly Figures[]) {
  return {
    head: [
      'requests',
      'connections',
      'stored/s',
      'accepted/s',
      'p50 ms',
      'p99 ms',
      'last row after',
      'busy cores',
      'accepted/s of the bare server',
      'p50 ms',
      'time compared with it',
    ],
    rows: all.map((figures) => [
      figures.kind.name,
      String(figures.connections),
      showSpread(spreadOf(figures.storedPerSecond), 0),
      showSpread(spreadOf(figures.perSecond), 0),
      showSpread(spreadOf(figures.p50)),
      showSpread(spreadOf(figures.p99)),
      `${showSpread(spreadOf(figures.lastRowSeconds), 2)} s`,
      showSpread(spreadOf(figures.busyCores), 2),
      showSpread(spreadOf(figures.barePerSecond), 0),
      showSpread(spreadOf(figures.bareP50)),
      showInterval(intervalOf(besideBare(figures).ratios)),
    ]),
  };
}

function storedTarget(all: readonly Figures[]): Target {
  const { kind, connections } = STORED_TARGET;
  const figures = all.find((one) => one.kind === kind && one.connections === connections);
  const found = spreadOf(figures?.storedPerSecond ?? []);
  return {
    what: `${kind.name}, ${connections} connections: requests per second until all rows are stored`,
    wanted: `>= ${showNumber(STORED_PER_SECOND_MIN, 0)}/s`,
    found: `${showSpread(found, 0)}/s`,
    met: found.median >= STORED_PER_SECOND_MIN,
  };
}

/** Waits until this many events can be queried. Resolves with the waiting time in seconds. */
async function untilStored(client: WeirClient, events: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const found = await client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site: SITE });
    if (found > events) throw new Error(`${found} rows of ${events} events`);
    if (found === events) return (performance.now() - startedAt) / 1000;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
