import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENTS } from '@weir/testkit/sample-access-log';
import { bearer, type WeirClient } from '@weir/testkit/weir-client';
import { TEST_ADMIN_TOKEN } from '@weir/testkit/weir-process';
import type { Installation } from './installed-version.ts';

interface Filled {
  readonly version: Installation;
  readonly client: WeirClient;
  readonly url: string;
  readonly site: string;
  readonly key: string;
  /** About this many rows are stored. */
  readonly rows: number;
  readonly random: () => number;
}

const BATCH_EVENTS = 500;
const BATCHES_AT_ONCE = 4;
const LINES_AT_ONCE = 20_000;
const LOG_FROM_MS = Date.UTC(2026, 4, 17, 10);
const LINE_EVERY_MS = 2_000;
/** Each group of this many consecutive lines has its own visitors: numbers from a range of `VISITORS_PER_GROUP`. */
const LINES_PER_GROUP = 200;
const VISITORS_PER_GROUP = 19;
const PATHS = ['/', '/about', '/pricing', '/docs/one', '/docs/two?page=2', '/blog'];
const REFERRERS = ['-', 'https://www.google.com/', 'https://news.ycombinator.com/item?id=1'];
const EVENTS_FROM_MS = Date.UTC(2026, 4, 1);
const EVENTS_FOR_MS = 60 * 86_400_000;
const PEOPLE_MAX = 500;
const PLANS = ['free', 'pro', 'max'];

/**
 * Fills a site. One half of the rows comes from an imported access log that begins on 17 May 2026. The other half is server events with properties
 * at random times in the 60 days from 1 May 2026. Every tenth event is a payment. Some visitors are identified. Resolves when all rows are stored.
 */
export async function fillHistory({ version, client, url, site, key, rows, random }: Filled): Promise<void> {
  await importLog(version, url, site, Math.round(rows / 2));
  const people = Math.min(PEOPLE_MAX, Math.round(rows / 40));
  for (let nth = 0; nth < people; nth++) {
    const person = { visitor_id: `v${nth}`, user_id: `user-${nth}`, plan: PLANS[nth % 3], seats: nth };
    const { status, text } = await client.identify(key, person);
    if (status !== 200) throw new Error(`identify answered ${status} ${text}`);
  }
  let next = 0;
  const events = Math.round(rows / 2);
  const visitors = Math.ceil(events / 5);
  const sender = async (): Promise<void> => {
    while (next < events) {
      const first = next;
      next += BATCH_EVENTS;
      const batch = Array.from({ length: Math.min(BATCH_EVENTS, events - first) }, (_, index) =>
        eventOf(first + index, Math.floor(random() * visitors), random()),
      );
      await sendBatch(client, key, batch);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, sender));
  await client.settled(600_000);
}

function eventOf(nth: number, visitor: number, at: number): object {
  const isPayment = nth % 10 === 0;
  return {
    name: isPayment ? 'paid' : `event-${nth % 7}`,
    visitor_id: `v${visitor}`,
    idempotency_key: `history-${nth}`,
    timestamp: EVENTS_FROM_MS + Math.floor(at * EVENTS_FOR_MS),
    ...(isPayment ? { value: `${visitor % 90}.25` } : {}),
    properties: { plan: PLANS[nth % 3], big: nth % 11, ...(isPayment ? { currency: 'EUR' } : {}) },
  };
}

/** Sends a batch. Repeats the events that were answered with 503, until each event is accepted. */
async function sendBatch(client: WeirClient, key: string, events: readonly object[]): Promise<void> {
  let left = events;
  while (left.length > 0) {
    const answer = await client.send({ path: '/api/v1/events/batch', headers: bearer(key), body: { events: left } });
    const { data } = (answer.json ?? {}) as { data?: { results?: readonly { error?: { code: number } }[] } };
    const results = data?.results;
    if (results === undefined)
      throw new Error(`a batch was answered with ${answer.status} ${answer.text.slice(0, 200)}`);
    const strange = results.find(({ error }) => error !== undefined && error.code !== 503);
    if (strange !== undefined) throw new Error(`an event of a batch was answered with ${JSON.stringify(strange)}`);
    left = left.filter((_, index) => results[index]?.error !== undefined);
  }
}

async function importLog(version: Installation, url: string, site: string, lines: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-history-'));
  try {
    const file = join(folder, 'access.log');
    for (let first = 0; first < lines; first += LINES_AT_ONCE)
      appendFileSync(
        file,
        Array.from({ length: Math.min(LINES_AT_ONCE, lines - first) }, (_, index) => lineOf(first + index)).join(''),
      );
    await version.weir(['import', file, '--site', site], { WEIR_URL: url, WEIR_ADMIN_TOKEN: TEST_ADMIN_TOKEN });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A line of a log in the combined format. In each complete group of lines, ten visitors have 10 to 22 lines each. */
function lineOf(nth: number): string {
  const visitor = Math.floor(nth / LINES_PER_GROUP) * VISITORS_PER_GROUP + ((nth * nth) % VISITORS_PER_GROUP);
  const address = `198.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`;
  const [, day, month, year, time] = new Date(LOG_FROM_MS + nth * LINE_EVERY_MS).toUTCString().split(' ');
  const path = PATHS[nth % PATHS.length];
  const referrer = REFERRERS[visitor % REFERRERS.length];
  const agent = AGENTS[visitor % AGENTS.length];
  return `${address} - - [${day}/${month}/${year}:${time} +0000] "GET ${path} HTTP/1.1" 200 1234 "${referrer}" "${agent}"\n`;
}
