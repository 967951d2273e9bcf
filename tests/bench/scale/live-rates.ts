import { setTimeout as pause } from 'node:timers/promises';
import { percentile, sendLoad } from '../load/http-load.ts';
import type { RequestMaker } from '../load/load-requests.ts';
import { startOpenLoad } from '../load/open-load.ts';
import { sendPageview, untilVisible } from '../load/visibility-probe.ts';
import { batchesFrom, EVENTS_PER_VISITOR, pageviewsFrom } from './scale-events.ts';
import { type Memory, SCALE_SITE, type ScaleWeir } from './scale-weir.ts';
import { type PartsCpu, perEvent, type Reading } from './thread-cpu.ts';

const RATES = [1_000, 5_000, 10_000];
const LIVE_BATCH = 20;
/** So many events that V8 has compiled the code before the first measurement. */
export const WARM_UP_EVENTS = 100_000;
export const WARM_UP_S = 5;
export const WINDOW_S = 25;
const PROBES = 15;
const PROBE_POLL_MS = 50;
const CLOSED_CONNECTIONS = 64;
/** `startOpenLoad` stops when so many requests wait for an answer. Some of them can still be stored. */
const WAITING_MAX = 512;
const SETTLED_MS = 3_000;

export interface LiveRate {
  readonly kind: string;
  readonly wanted: number;
  /** The acknowledged events per second. */
  readonly reached: number;
  /** Why the wanted rate was not held. Then the figures are those of the highest rate that 64 connections reached. */
  readonly refused: string | undefined;
  readonly cpu: PartsCpu;
  /** The events that were acknowledged during the measurement, but not yet inserted at its end. */
  readonly backlog: number;
  /** At the end of the measurement. */
  readonly memory: Memory;
  /** The time of each answer in milliseconds, in ascending order. */
  readonly answersMs: Float64Array;
  /** The time from an answer until SQL finds the row in milliseconds, in ascending order. Empty if the rate was not held. */
  readonly visibleMs: Float64Array;
}

const PAGEVIEW_STATUS = 204;

interface Kind {
  readonly name: string;
  readonly status: number;
  readonly events: number;
  make(weir: ScaleWeir, first: number): RequestMaker;
}

const KINDS: readonly Kind[] = [
  {
    name: 'pageviews of browsers, one per request',
    status: PAGEVIEW_STATUS,
    events: 1,
    make: (_, first) => pageviewsFrom(SCALE_SITE, first),
  },
  {
    name: `server events, ${LIVE_BATCH} per request`,
    status: 200,
    events: LIVE_BATCH,
    make: ({ key }, first) => batchesFrom(key, first, LIVE_BATCH),
  },
];

/** The state of the enricher after the pageviews. Server events without a session need none. */
export interface VisitorState {
  readonly bytes: number;
  readonly visitors: number;
}

/** Measures each kind of request at each rate. All acknowledged events are stored when it resolves. */
export async function measureRates(
  weir: ScaleWeir,
  note: (text: string) => void,
): Promise<{ readonly rates: readonly LiveRate[]; readonly state: VisitorState }> {
  const rates: LiveRate[] = [];
  let state: VisitorState = { bytes: 0, visitors: 0 };
  for (const kind of KINDS) {
    await sendClosed(weir, kind, WARM_UP_EVENTS / kind.events);
    await weir.untilStored();
    for (const perSecond of RATES) {
      note(`${kind.name}: ${perSecond}/s`);
      const open = await measureOpen(weir, kind, perSecond);
      const rate = typeof open === 'string' ? await measureClosed(weir, kind, perSecond, open) : open;
      if (rate.refused !== undefined) note(`not held: ${rate.refused}; ${rate.reached.toFixed(0)}/s`);
      rates.push(rate);
    }
    if (kind.status === PAGEVIEW_STATUS) {
      state = { bytes: weir.sizes().state, visitors: Math.ceil(weir.acknowledged / EVENTS_PER_VISITOR) };
    }
  }
  return { rates, state };
}

/** Resolves with the figures, or with the reason why the rate was not held. */
async function measureOpen(weir: ScaleWeir, kind: Kind, wanted: number): Promise<LiveRate | string> {
  const first = weir.acknowledged;
  const load = startOpenLoad({
    port: weir.port,
    perSecond: wanted / kind.events,
    status: kind.status,
    make: kind.make(weir, first),
  });
  const acknowledged = (): number => first + load.answered() * kind.events;
  const during = (ms: number): Promise<unknown> => Promise.race([pause(ms), load.failed]);
  let probing: Promise<Float64Array> | undefined;
  let found: LiveRate;
  try {
    await during(WARM_UP_S * 1000);
    load.takeLatencies();
    const before = await weir.reading(acknowledged());
    const startedAt = performance.now();
    await during(WINDOW_S * 1000);
    const after = await weir.reading(acknowledged());
    const seconds = (performance.now() - startedAt) / 1000;
    const answersMs = load.takeLatencies();
    const figures = figuresOf(weir, kind, wanted, before, after, seconds);
    probing = probe(weir);
    const visibleMs = await Promise.race([probing, load.failed]);
    await load.stop();
    found = { ...figures, refused: undefined, answersMs, visibleMs };
  } catch (error) {
    const refused = await load.stop().then(
      () => undefined,
      (reason: Error) => reason.message,
    );
    // If the load has not failed, it is another error, for example of the probe.
    if (refused === undefined) throw error;
    await probing?.catch(() => undefined);
    await acceptUnanswered(weir, acknowledged(), WAITING_MAX * kind.events + PROBES);
    return refused;
  }
  weir.acknowledged = acknowledged() + PROBES;
  await weir.untilStored();
  return found;
}

/** Measures the highest rate that 64 connections reach. */
async function measureClosed(weir: ScaleWeir, kind: Kind, wanted: number, refused: string): Promise<LiveRate> {
  const warm = await sendClosed(weir, kind, Math.ceil((wanted * WARM_UP_S) / kind.events));
  const before = await weir.reading();
  const { seconds, latenciesMs } = await sendClosed(weir, kind, Math.ceil(warm.perSecond * WINDOW_S));
  const after = await weir.reading();
  const figures = figuresOf(weir, kind, wanted, before, after, seconds);
  await weir.untilStored();
  return { ...figures, refused, answersMs: latenciesMs, visibleMs: new Float64Array(0) };
}

/** Sends requests on 64 connections. Each sends its next request when it has the answer to the last one. */
async function sendClosed(weir: ScaleWeir, { make, status, events }: Kind, requests: number) {
  const load = { port: weir.port, connections: CLOSED_CONNECTIONS, requests, status };
  const result = await sendLoad({ ...load, make: make(weir, weir.acknowledged) });
  weir.acknowledged += requests * events;
  return { ...result, perSecond: requests / result.seconds };
}

function figuresOf(weir: ScaleWeir, { name }: Kind, wanted: number, before: Reading, after: Reading, seconds: number) {
  const acknowledged = after.acknowledged - before.acknowledged;
  return {
    kind: name,
    wanted,
    reached: acknowledged / seconds,
    cpu: perEvent(before, after),
    memory: weir.memory(),
    backlog: acknowledged - (after.written - before.written),
  };
}

/**
 * After a load with requests that have no answer: waits until all acknowledged events are stored and until no more rows are, and counts them all as
 * acknowledged.
 */
async function acceptUnanswered(weir: ScaleWeir, acknowledged: number, unansweredMax: number): Promise<void> {
  await weir.untilConsumed('writer', acknowledged);
  for (let last = -1, now = await weir.consumed('writer'); last !== now; now = await weir.consumed('writer')) {
    last = now;
    await pause(SETTLED_MS);
  }
  const rows = await weir.rows();
  if (rows < acknowledged || rows > acknowledged + unansweredMax) {
    throw new Error(
      `${rows} rows, but ${acknowledged} acknowledged events and at most ${unansweredMax} without answer`,
    );
  }
  weir.acknowledged = rows;
}

/** Sends pageviews with different paths, one after the other. Measures for each how long it takes until SQL finds it. */
async function probe({ acknowledged, process: { client } }: ScaleWeir): Promise<Float64Array> {
  const task = { client, siteId: SCALE_SITE, pollMs: PROBE_POLL_MS };
  const found: number[] = [];
  for (let nth = 0; nth < PROBES; nth++) {
    const name = `probe-${acknowledged}-${nth}`;
    await sendPageview(task, name);
    found.push(await untilVisible(task, name));
  }
  return Float64Array.from(found).sort();
}

/** The median and the 99th percentile of answers, in milliseconds. */
export const p50AndP99 = (rising: Float64Array): readonly [number, number] => [
  percentile(rising, 0.5),
  percentile(rising, 0.99),
];
