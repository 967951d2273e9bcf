import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WeirClient } from '@weir/testkit/weir-client';
import type { Role } from '../src/roles.ts';
import type { Weir } from '../src/startup/start-weir.ts';
import { CHROME, startWithClock } from './start-with-clock.ts';

const HOUR_MS = 3_600_000;

/** The time of Weir's clock, which the test sets. All started roles run in this process. */
let now = Date.UTC(2026, 4, 1, 12);
const dataDir = mkdtempSync(join(tmpdir(), 'weir-long-lag-'));
let weir: Weir | undefined;

async function start(roles: readonly Role[]): Promise<WeirClient> {
  const env = { WEIR_DATA_DIR: dataDir, TRUSTED_PROXIES: '127.0.0.1' };
  const started = await startWithClock(() => now, env, roles);
  weir = started.weir;
  return started.client;
}

async function stop(): Promise<void> {
  await weir?.close();
  weir = undefined;
}
afterAll(async () => {
  await stop();
  rmSync(dataDir, { recursive: true });
});

test('records that wait for longer than the retention are stored once, with their visitors', async () => {
  const everything: readonly Role[] = ['gateway', 'enricher', 'writer', 'control'];
  let client = await start(everything);
  const site = await client.createSite();
  const { key } = await client.createKey(site);
  const order = { name: 'order', user_id: 'user-1', idempotency_key: 'order-1' };
  expect((await client.events(key, order)).status).toBe(202);
  await client.rows('events', site, 1);
  await stop();

  // Without its claims (docs/glossary.md), the gateway stores the event again. The enricher must find the duplicate.
  rmSync(join(dataDir, 'claims'), { recursive: true });
  now += HOUR_MS;
  client = await start(['gateway']);
  expect((await client.events(key, order)).status).toBe(202);
  for (const address of ['203.0.113.7', '198.51.100.9']) {
    const hit = { site_id: site, visitor_id: '', session_id: '', type: 'pageview', url: 'https://example.com/' };
    const answer = await client.collect(hit, { 'user-agent': CHROME, 'x-forwarded-for': address });
    expect(answer.status).toBe(204);
  }
  await stop();

  rmSync(join(dataDir, 'state'), { recursive: true });
  now += 100 * HOUR_MS;
  client = await start(everything);
  await client.settled();
  const events = await client.rows('events', site, 3, 'type, visitor_id');
  expect(events.map(({ type }) => type).toSorted()).toEqual(['event', 'pageview', 'pageview']);
  expect(new Set(events.map(({ visitor_id }) => visitor_id)).size).toBe(3);
});
