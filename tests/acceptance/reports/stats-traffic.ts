import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTS } from '@weir/testkit/sample-access-log';
import type { WeirClient } from '@weir/testkit/weir-client';
import { mustRunWeir } from '@weir/testkit/weir-process';

const PATHS = ['/', '/pricing', '/docs/a', '/docs/b', '/100%25_sure', "/o'brien", '/a,b:c'];
const REFERRERS = ['', 'https://www.google.com/', 'https://www.reddit.com/r/x', 'https://blog.other.example/post'];
const TAGS = ['', '', '?utm_source=news&utm_medium=email&utm_campaign=spring', '?utm_source=ads&utm_medium=cpc'];
/** Networks in several countries. */
const NETWORKS = ['8.8.8', '194.25.0', '133.11.93', '1.1.1'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface Stretch {
  readonly from: string;
  readonly to: string;
  /** Some visitors arrive at exactly these times, to the millisecond. */
  readonly edges: readonly string[];
}

/** In this period, the clocks of Berlin, Lord Howe Island (by half an hour) and Santiago (at midnight) change. */
export const SPRING: Stretch = {
  from: '2026-03-28T00:00:00Z',
  to: '2026-04-07T00:00:00Z',
  edges: ['2026-03-28T23:00:00Z', '2026-03-29T01:00:00Z', '2026-04-04T15:00:00Z', '2026-04-05T03:00:00Z'],
};
export const AUTUMN: Stretch = {
  from: '2026-10-03T00:00:00Z',
  to: '2026-10-05T12:00:00Z',
  edges: ['2026-10-03T15:30:00Z', '2026-10-03T16:00:00Z'],
};
export const SANTIAGO_AUTUMN: Stretch = {
  from: '2026-09-05T00:00:00Z',
  to: '2026-09-07T12:00:00Z',
  edges: ['2026-09-06T04:00:00Z'],
};
export const BERLIN_AUTUMN: Stretch = {
  from: '2026-10-24T00:00:00Z',
  to: '2026-10-27T00:00:00Z',
  edges: ['2026-10-24T22:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T23:00:00Z'],
};

/**
 * Returns JSON lines for `weir import`, with returning visitors, visits of one to six pages, and bots. The generator has a fixed seed.
 * `visitors`: at most 1,000.
 */
export function generatedLines(stretches: readonly Stretch[], visitsEach: number, visitors = 120): string {
  const next = numbers(5);
  const lines: { readonly at: number; readonly text: string }[] = [];
  const visit = (start: number): void => {
    const visitor = next(visitors);
    const ip = `${NETWORKS[visitor % NETWORKS.length]}.${visitor % 250}`;
    const agent = AGENTS[visitor % 9 === 0 ? 3 : visitor % 3] ?? '';
    let at = start;
    for (let page = 0; page < 1 + (next(3) === 0 ? next(6) : 0); page++) {
      const url = `${PATHS[next(PATHS.length)]}${page === 0 ? TAGS[next(TAGS.length)] : ''}`;
      const referrer = page === 0 ? REFERRERS[next(REFERRERS.length)] : 'https://example.com/';
      lines.push({
        at,
        text: JSON.stringify({ time: at, ip, url, referrer, user_agent: agent, method: 'GET', status: 200 }),
      });
      at += next(12 * MINUTE_MS) + 1;
    }
  };
  for (const { from, to, edges } of stretches) {
    const length = Date.parse(to) - Date.parse(from);
    for (let n = 0; n < visitsEach; n++) visit(Date.parse(from) + next(length));
    for (const edge of edges) for (const ms of [-HOUR_MS, -1, 0, 1, 30 * MINUTE_MS]) visit(Date.parse(edge) + ms);
  }
  return lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ text }) => `${text}\n`)
    .join('');
}

/** Imports a log with the `weir` command. Resolves when its rows can be queried. */
export async function importText(client: WeirClient, site: string, text: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-stats-'));
  const file = join(folder, 'access.log');
  writeFileSync(file, text);
  await mustRunWeir(client, 'import', file, '--site', site, '--json');
  rmSync(folder, { recursive: true });
  await client.settled();
}

/** Sends server events: some join a visit, some have only a visitor, and some have neither a visitor nor a user. Some are internal events. */
export async function sendEvents(client: WeirClient, site: string): Promise<void> {
  const { key } = await client.createKey(site);
  const rows = await client.sql(
    `SELECT visitor_id, session_id, toUnixTimestamp64Milli(max(timestamp)) AS at FROM events
     WHERE site_id = {site:String} AND bot = '' GROUP BY visitor_id, session_id ORDER BY session_id LIMIT 90`,
    { site },
  );
  const events = rows.flatMap(({ visitor_id, session_id, at }, n) => [
    {
      name: ['signup', 'paid', '$engagement'][n % 3],
      timestamp: Number(at) + 1000,
      properties: { plan: ['pro', 'free', "o'x"][n % 3], 'a.b': n % 2, seats: n % 4 },
      ...(n % 5 === 4 ? {} : { visitor_id }),
      ...(n % 5 < 3 ? { session_id } : {}),
    },
  ]);
  await client.sendBatch(key, events);
  await client.settled();
}

function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
