import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WeirClient } from '@weir/testkit/weir-client';
import { AGENT } from './load-requests.ts';

export interface ProbeTask {
  readonly client: Pick<WeirClient, 'collect' | 'number'>;
  readonly siteId: string;
  /** The time between two pageviews. It does not depend on when the earlier ones become visible. */
  readonly everyMs: number;
  /** The pause between two queries for a pageview. A measured time can be too long by this value and the time of a query. */
  readonly pollMs: number;
  /**
   * Called when a pageview has its answer 204. The result is the list to which the time until it is visible is appended, in
   * milliseconds.
   */
  list(): number[];
  readonly stop: AbortSignal;
}

/** The maximum number of pageviews that are not visible yet. If there are more, Weir is stuck. */
const PENDING_MAX = 100;

/** `records` is read directly, and only the hours of the probe, so that a query takes little CPU time. */
const QUERY = `SELECT count() FROM records WHERE site_id = {site:String} AND outcome = 'row'
  AND toStartOfHour(timestamp) >= toStartOfHour(now() - INTERVAL 1 HOUR) AND pathname = {path:String}`;

/**
 * Sends pageviews with different paths until `stop` is aborted. Measures for each how long it takes from its answer 204 until SQL finds its row.
 * Resolves with the number of pageviews, when all of them are visible. Rejects if a request fails.
 */
export async function probeVisibility(task: ProbeTask): Promise<number> {
  const { everyMs, stop } = task;
  const run = randomUUID();
  const pending = new Set<Promise<void>>();
  const ended = new AbortController();
  let fail: (reason: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const startedAt = performance.now();
  let sent = 0;
  try {
    while (!stop.aborted) {
      if (pending.size >= PENDING_MAX) throw new Error(`${PENDING_MAX} pageviews are not visible yet`);
      const one = measureOne(task, `probe-${run}-${sent++}`, ended.signal);
      pending.add(one);
      one.then(() => pending.delete(one), fail);
      const untilNext = Math.max(0, startedAt + sent * everyMs - performance.now());
      await Promise.race([pause(untilNext, undefined, { signal: stop }).catch(() => undefined), failed]);
    }
    await Promise.all(pending);
    return sent;
  } finally {
    ended.abort();
  }
}

async function measureOne(task: ProbeTask, name: string, ended: AbortSignal): Promise<void> {
  await sendPageview(task, name);
  const times = task.list();
  const ms = await untilVisible(task, name, ended);
  if (!ended.aborted) times.push(ms);
}

type Probed = Pick<ProbeTask, 'client' | 'siteId' | 'pollMs'>;

/** Sends a pageview with the path `/<name>`. Rejects if the answer is not 204. */
export async function sendPageview({ client, siteId }: Probed, name: string): Promise<void> {
  const ids = { visitor_id: name, session_id: name };
  const body = { site_id: siteId, type: 'pageview', ...ids, url: `https://www.example.com/${name}` };
  const answer = await client.collect(body, { 'user-agent': AGENT });
  if (answer.status !== 204) throw new Error(`a pageview was answered with ${answer.status} ${answer.text}`);
}

/** Resolves when SQL finds the pageview, or when `ended` is aborted. Returns the time that this has taken, in milliseconds. */
export async function untilVisible(
  { client, siteId, pollMs }: Probed,
  name: string,
  ended?: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  while ((await client.number(QUERY, { site: siteId, path: `/${name}` })) === 0) {
    if (ended?.aborted === true) break;
    await pause(pollMs);
  }
  return performance.now() - startedAt;
}
