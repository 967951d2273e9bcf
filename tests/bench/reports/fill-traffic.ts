import { setTimeout as pause } from 'node:timers/promises';
import type { Analytics } from '@weir/ports/analytics';
import { countRows, insertPeople, insertTraffic, TRAFFIC_SITE, type Traffic } from './report-traffic.ts';

export interface TrafficTask {
  readonly rows: number;
  readonly seed: number;
  readonly endMs: number;
}

const CHUNK_ROWS = 50_000;
const SAMPLE_SESSIONS = 200_000;

/**
 * Inserts chunks in the order of time. Each chunk is one insert with a token, through the views of `records`. Resolves with the
 * number of rows.
 */
export async function fillTraffic(
  analytics: Analytics,
  { rows: wanted, seed, endMs }: TrafficTask,
  note: (text: string) => void,
): Promise<number> {
  const one = async (query: string): Promise<number> =>
    Number(Object.values((await analytics.select<Record<string, unknown>>(query))[0] ?? {})[0]);
  const sampled = await one(countRows({ seed, endMs, sessions: SAMPLE_SESSIONS }));
  const traffic: Traffic = { seed, endMs, sessions: Math.round((wanted * SAMPLE_SESSIONS) / sampled) };
  const chunk = Math.max(1, Math.round((traffic.sessions * CHUNK_ROWS) / wanted));
  let lateCount = 0;
  for (let from = 0; from <= traffic.sessions; from += chunk) {
    const count = Math.max(0, Math.min(chunk, traffic.sessions - from));
    // Raw offsets must rise, but can have gaps. The chunks begin so far apart that they cannot overlap.
    const firstOffset = (from / chunk) * CHUNK_ROWS * 10;
    await analytics.change(insertTraffic(traffic, { from, count, lateCount, firstOffset }), `bench:${from}`);
    lateCount = count;
    if ((from / chunk) % 20 === 0) note(`filled ${Math.round((100 * from) / traffic.sessions)} %`);
  }
  await analytics.change(insertPeople(traffic, 0), 'bench:people');
  return one(`SELECT count() FROM records WHERE site_id = '${TRAFFIC_SITE}'`);
}

/** Resolves when ClickHouse has not merged parts for a second. */
export async function untilMerged(analytics: Analytics): Promise<void> {
  for (let quiet = 0; quiet < 5; ) {
    const [row] = await analytics.select<{ merges: string | number }>('SELECT count() AS merges FROM system.merges');
    quiet = Number(row?.merges) === 0 ? quiet + 1 : 0;
    await pause(200);
  }
}
