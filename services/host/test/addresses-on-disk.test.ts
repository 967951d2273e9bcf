import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { filesWith, sendClientAddresses } from '@weir/testkit/client-addresses';
import { eventually } from '@weir/testkit/eventually';
import type { Weir } from '../src/startup/start-weir.ts';
import { startWithClock } from './start-with-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.UTC(2026, 4, 1, 12);
const SALTS = join('log', 'salts.json');

/** The time of Weir's clock, which the test sets. All started roles run in this process. */
let now = NOON;
const dataDir = mkdtempSync(join(tmpdir(), 'weir-addresses-'));
let weir: Weir | undefined;

afterAll(async () => {
  await weir?.close();
  rmSync(dataDir, { recursive: true });
});

/** Opens the closed log, waits until its raw records have expired, and returns the first raw offset of each partition. */
async function firstOffsets(): Promise<readonly number[]> {
  const log = await openLmdbEventLog({
    folder: join(dataDir, 'log'),
    partitions: 4,
    clock: () => now,
    retentionMs: () => 72 * HOUR_MS,
  });
  const positions = await eventually('the raw records to expire', async () => {
    const found = await log.positions(TOPIC_RAW, GROUP_ENRICHER);
    return found.every(({ first, end }) => first === end) ? found : undefined;
  });
  await log.close();
  return positions.map(({ first }) => first);
}

test('the disk never holds a plain address; the key of a day is removed when its records have expired', async () => {
  const env = { WEIR_DATA_DIR: dataDir, WEIR_GUARD_INTERVAL_SECONDS: '1', TRUSTED_PROXIES: '127.0.0.1' };
  const started = await startWithClock(() => now, env);
  weir = started.weir;
  const { client } = started;
  const site = await client.createSite();
  const rows = await sendClientAddresses(client, site, 'first');
  await client.rows('events', site, rows);
  const salts = filesWith(dataDir, ['salt/2026-05-01/']);
  expect(salts).toEqual([`${SALTS}: salt/2026-05-01/`]);
  expect(filesWith(dataDir)).toEqual([]);

  now = NOON + 4 * DAY_MS;
  await eventually('the key of the day to go', () => filesWith(dataDir, ['salt/2026-05-01/']).length === 0);
  await client.rows('events', site, (await sendClientAddresses(client, site, 'second')) + rows);
  await weir?.close();
  weir = undefined;
  now += 4 * DAY_MS;
  expect((await firstOffsets()).some((first) => first > 0)).toBe(true);
  // LMDB's free pages can still contain the expired records, but these records contain only encrypted addresses.
  expect(filesWith(dataDir)).toEqual([]);
});
