import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { bearer, type WeirClient } from '@weir/testkit/weir-client';
import { type FailingWeir, openFailing } from '../failpoints/failing-weir.ts';
import type { Embedded } from '../suite/embedded-subject.ts';
import type { Fault, Round } from '../suite/fault.ts';
import { FLOOD_BATCH, FLOOD_NAME, type FloodOptions, startFlood } from '../suite/flood.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

/**
 * The number of connections of a flood. Each connection sends batches of 500 events, and waits for the answer to each batch. The first batches of
 * all connections together have more events than the gateway accepts while the log has not stored them.
 */
const CONNECTIONS = 64;
const FLOOD_MS = 4_000;
/** Each append of raw records is answered this much later, as on a slow disk, so that records wait. */
const APPEND_MS = 500;
const NO_LIMITS = { collect: 100_000_000, events: 100_000_000, identify: 100_000_000 };
const ADDRESS_LIMIT = 1_000;
const HOT_ADDRESS = '198.51.100.9';
/** At most this share of the requests of all other clients may be refused or have no answer in time. */
const REFUSED_SHARE_MAX = 0.01;
/**
 * This number of refused requests of other clients is always allowed. On a slow machine, there are few requests, so that a single late answer
 * could exceed the share.
 */
const REFUSED_MIN = 5;
const REFUSED_WITHIN_MS = 60_000;
const STORED_WITHIN_MS = 120_000;

type Request = Pick<FloodOptions, 'path' | 'body' | 'headers'>;

async function createOpenSite(client: WeirClient): Promise<string> {
  const site = await client.createSite();
  await client.must(200, 'PATCH', `/sites/${site}`, { limits: NO_LIMITS });
  return site;
}

async function batchRequest(client: WeirClient, site: string): Promise<Request> {
  const { key } = await client.createKey(site);
  return { path: '/api/v1/events/batch', body: FLOOD_BATCH, headers: bearer(key) };
}

/**
 * Floods a site until some requests of the flood are answered with the status `refusal`. Meanwhile, Weir must serve the other clients. Weir must
 * store each accepted event of the flood exactly once.
 */
async function flood(
  { client, url }: Embedded,
  round: Round,
  { site, request, refusal }: { readonly site: string; readonly request: Request; readonly refusal: number },
): Promise<void> {
  const stored = (): Promise<number> =>
    client.number(
      `SELECT count() FROM events WHERE site_id = {site:String} AND startsWith(event_name, '${FLOOD_NAME}')`,
      { site },
    );
  const storedBefore = await stored();
  const before = answersOf(round);
  const running = startFlood({ url, connections: CONNECTIONS, ...request });
  await pause(FLOOD_MS); // the flood lasts at least this long, so the pause is part of the test
  const refused = eventually(`an answer ${refusal} to the flood`, () => running.hadStatus(refusal), REFUSED_WITHIN_MS);
  await refused.finally(() => running.stop());
  const after = answersOf(round);
  const all = after.all - before.all;
  const others = after.refused - before.refused;
  if (others > Math.max(REFUSED_MIN, all * REFUSED_SHARE_MAX))
    round.found(`${others} of ${all} requests of all others were refused`);
  if (all === 0) round.found('no request of all others was answered');
  const due = storedBefore + (await running.stop());
  await eventually('the accepted events to be stored', async () => (await stored()) >= due, STORED_WITHIN_MS);
  if ((await stored()) !== due) round.found(`${await stored()} events of the flood are stored, not ${due}`);
}

function answersOf({ load }: Round): { readonly all: number; readonly refused: number } {
  const all = [...load.saw.values()].reduce((sum, count) => sum + count, 0);
  return { all, refused: (load.saw.get('503') ?? 0) + (load.saw.get('no answer') ?? 0) };
}

/** Slows down the log until more records wait than Weir has room for. Weir must then refuse some requests of the flood. */
async function floodSlowLog(weir: FailingWeir, round: Round, site: string): Promise<void> {
  const request = await batchRequest(weir.client, site);
  const order = { point: 'append', about: '^events.raw', action: 'late', lateMs: APPEND_MS } as const;
  weir.arm({ ...order, times: Number.MAX_SAFE_INTEGER });
  await flood(weir, round, { site, request, refusal: 503 }).finally(() => weir.arm({ point: 'none' }));
}

const FAULTS: readonly Fault<FailingWeir>[] = [
  {
    name: 'hot-site',
    about: `one site sends more than all others: batches through ${CONNECTIONS} connections, while the log is slow`,
    open: () => openFailing(),
    shares: 'failing',
    strike: async (weir, round) => floodSlowLog(weir, round, await createOpenSite(weir.client)),
  },
  {
    name: 'hot-key',
    about: `one API key sends more than all others: batches through ${CONNECTIONS} connections, while the log is slow`,
    open: () => openFailing(),
    shares: 'failing',
    strike: (weir, round) => floodSlowLog(weir, round, round.site),
  },
  {
    name: 'hot-address',
    about: `one address sends hits through ${CONNECTIONS} connections, more than its rate limit`,
    open: () => openFailing(),
    shares: 'failing',
    async strike(weir, round) {
      const { client } = weir;
      const site = await client.createSite();
      await client.must(200, 'PATCH', `/sites/${site}`, { limits: { collect: ADDRESS_LIMIT } });
      const hit = { site_id: site, visitor_id: 'v', session_id: '', type: 'event', event_name: `${FLOOD_NAME}hit` };
      const headers = { 'x-forwarded-for': HOT_ADDRESS };
      const request = { path: '/api/collect', body: JSON.stringify(hit), headers };
      await flood(weir, round, { site, request, refusal: 429 });
    },
  },
];

export const OVERLOAD_FAULTS: readonly Runnable[] = FAULTS.map(embedded);
