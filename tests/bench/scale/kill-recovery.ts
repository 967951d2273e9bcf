import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { keptConnection, sendHttp } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import { BATCH_EVENTS, markedEvents } from './scale-events.ts';
import { SCALE_SITE, type ScaleWeir } from './scale-weir.ts';

const CLIENTS = 8;
export const KILL_AFTER_S = 10;
const RECOVERED_WITHIN_MS = 1_800_000;

export interface Recovery {
  /** The acknowledged events that SQL did not count yet just before the kill. */
  readonly backlog: number;
  /** From the start of the new process until it is ready. */
  readonly readySeconds: number;
  /** From the start of the new process until SQL counts at least as many rows as events were acknowledged. */
  readonly recoveredSeconds: number;
}

/** A batch of events with a path of its own. */
export interface MarkedBatch {
  readonly path: string;
  isAcknowledged: boolean;
}

/**
 * Sends batches for 10 s, kills all processes of Weir, and starts it again. Rejects if SQL does not find each event of the acknowledged batches
 * exactly once, or if it finds an event of another batch more than once. Events of batches without an answer can be stored.
 */
export async function measureRecovery(weir: ScaleWeir): Promise<Recovery> {
  const first = weir.acknowledged;
  const batches: MarkedBatch[] = [];
  let isKilled = false;
  const client = async (): Promise<void> => {
    const agent = keptConnection();
    while (!isKilled) {
      const batch: MarkedBatch = { path: `/kill-${first}/${batches.length}`, isAcknowledged: false };
      const events = markedEvents(first + batches.length * BATCH_EVENTS, batch.path);
      batches.push(batch);
      batch.isAcknowledged = await send(weir, events, agent).catch((error: unknown) => {
        if (!isKilled) throw error;
        return false;
      });
    }
    agent.destroy();
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  await Promise.race([pause(KILL_AFTER_S * 1000), clients]);
  const stored = await weir.rows();
  isKilled = true;
  const killed = weir.process.kill9();
  await clients;
  await killed;

  const acknowledged = first + batches.filter(({ isAcknowledged }) => isAcknowledged).length * BATCH_EVENTS;
  const startedAt = performance.now();
  const readyMs = await weir.process.restart();
  await eventually(`${acknowledged} rows`, async () => (await weir.rows()) >= acknowledged, RECOVERED_WITHIN_MS);
  const recoveredSeconds = (performance.now() - startedAt) / 1000;
  // Rows of batches without an answer also count above, so acknowledged rows can still be missing.
  const counted = await eventually('the batches to be whole', async () => {
    const found = await countByPath(weir, `/kill-${first}/`);
    return lostBatches(batches, found).length === 0 ? found : undefined;
  });
  weir.acknowledged = first + [...counted.values()].reduce((sum, count) => sum + count, 0);
  await weir.untilStored();
  return { backlog: acknowledged - stored, readySeconds: readyMs / 1000, recoveredSeconds };
}

/** The acknowledged batches of which not every event is stored. Throws if events are stored more than once. */
export function lostBatches(
  batches: readonly MarkedBatch[],
  rows: ReadonlyMap<string, number>,
): readonly MarkedBatch[] {
  const repeated = [...rows].filter(([, count]) => count > BATCH_EVENTS);
  if (repeated.length > 0) throw new Error(`batches have more rows than events: ${JSON.stringify(repeated)}`);
  return batches.filter(({ path, isAcknowledged }) => isAcknowledged && rows.get(path) !== BATCH_EVENTS);
}

async function countByPath({ process }: ScaleWeir, prefix: string): Promise<ReadonlyMap<string, number>> {
  const query = `SELECT pathname, count() AS events FROM events
  WHERE site_id = '${SCALE_SITE}' AND startsWith(pathname, {prefix:String}) GROUP BY pathname LIMIT 100000`;
  const rows = await process.client.sql(query, { prefix });
  return new Map(rows.map(({ pathname, events }) => [String(pathname), Number(events)]));
}

/** Resolves with true when all events are acknowledged. Rejects if the answer is another one, or if there is none. */
async function send(
  weir: ScaleWeir,
  events: readonly object[],
  agent: ReturnType<typeof keptConnection>,
): Promise<true> {
  const headers = bearer(weir.key);
  const answer = await sendHttp(weir.process.url, { path: '/api/v1/events/batch', body: { events }, headers, agent });
  const data = (answer.json as { data?: { accepted?: number } } | undefined)?.data;
  if (answer.status !== 200 || data?.accepted !== events.length) {
    throw new Error(`a batch was answered with ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return true;
}
