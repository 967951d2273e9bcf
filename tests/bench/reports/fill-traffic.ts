import { setTimeout as pause } from 'node:timers/promises';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { buildMonth, monthsToBuild } from '@weir/control/visit-slots/build-months';
import { CLOSED_AFTER_DAYS } from '@weir/control/visit-slots/built-run';
import { daysToBuild } from '@weir/control/visit-slots/days-to-build';
import type { Analytics } from '@weir/ports/analytics';
import { countRows, insertPeople, insertTraffic, TRAFFIC_SITE, type Traffic } from './report-traffic.ts';

export interface TrafficTask {
  readonly rows: number;
  readonly seed: number;
  readonly endMs: number;
  /** The part of the traffic that is inserted, counted from its end: 0.1 is the last tenth. The default is 1: all of it. */
  readonly part?: number;
}

const CHUNK_ROWS = 50_000;
const SAMPLE_SESSIONS = 200_000;

/** Two inserts run at the same time, because one insert uses only one thread. */
const AT_ONCE = 2;

/**
 * Inserts the traffic in the order of time, two chunks at once. Each chunk is one insert into `records` with its own deduplication token. The
 * insert also fills the materialized views. Resolves with the number of rows.
 */
export async function fillTraffic(
  analytics: Analytics,
  { rows: wanted, seed, endMs, part = 1 }: TrafficTask,
  note: (text: string) => void,
): Promise<number> {
  const one = async (query: string): Promise<number> =>
    Number(Object.values((await analytics.select<Record<string, unknown>>(query))[0] ?? {})[0]);
  const sampled = await one(countRows({ seed, endMs, sessions: SAMPLE_SESSIONS }));
  const traffic: Traffic = { seed, endMs, sessions: Math.round((wanted * SAMPLE_SESSIONS) / sampled) };
  const chunk = Math.max(1, Math.round((traffic.sessions * CHUNK_ROWS) / wanted));
  const all = Array.from({ length: Math.floor(traffic.sessions / chunk) + 1 }, (_, nth) => nth);
  const chunks = all.slice(Math.floor(all.length * (1 - part)));
  const countOf = (nth: number): number => Math.max(0, Math.min(chunk, traffic.sessions - nth * chunk));
  await eachAtOnce(chunks, async (nth) => {
    // Raw offsets must increase, but gaps are allowed. The first offsets of two chunks are so far apart that the chunks never overlap.
    const sessions = { from: nth * chunk, count: countOf(nth), lateCount: nth === 0 ? 0 : countOf(nth - 1) };
    const statement = insertTraffic(traffic, { ...sessions, firstOffset: nth * CHUNK_ROWS * 10 });
    await analytics.change(statement, `bench:${sessions.from}`);
    if (nth % 20 === 0) note(`filled ${Math.round((100 * sessions.from) / traffic.sessions)} %`);
  });
  await analytics.change(insertPeople(traffic, 0), 'bench:people');
  return one(`SELECT count() FROM records WHERE site_id = '${TRAFFIC_SITE}'`);
}

/**
 * Builds the slots (docs/glossary.md) of all days that began at least `CLOSED_AFTER_DAYS` days before the end of the traffic. In production, the
 * role control does this in the background. Resolves with the number of slots.
 */
export async function buildSlots(analytics: Analytics, endMs: number): Promise<number> {
  const change = (statement: string) => analytics.change(statement);
  const context = { analytics, clock: Date.now, assertUnchanged: () => undefined, change };
  const isOpen = (day: string): boolean => Date.parse(day) > endMs - CLOSED_AFTER_DAYS * 86_400_000;
  let slots = 0;
  await eachAtOnce(await daysToBuild(analytics, TRAFFIC_SITE, isOpen), async (days) => {
    const built = await buildDays(context, days);
    slots += built.slots;
  });
  for (const month of await monthsToBuild(context, TRAFFIC_SITE)) await buildMonth(context, month);
  return slots;
}

/** Calls `work` for the items in their order, for `AT_ONCE` items at the same time. */
async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Resolves when ClickHouse has not merged parts for a second. */
export async function untilMerged(analytics: Analytics): Promise<void> {
  for (let quiet = 0; quiet < 5; ) {
    const [row] = await analytics.select<{ merges: string | number }>('SELECT count() AS merges FROM system.merges');
    quiet = Number(row?.merges) === 0 ? quiet + 1 : 0;
    await pause(200);
  }
}
