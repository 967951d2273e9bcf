import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { startForgettingSalts } from '../src/watch/forget-salts.ts';

const HOUR_MS = 3600_000;
const NOW = Date.parse('2030-06-10T12:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'weir-forget-salts-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a host whose clock is years ahead removes only the salts that are old by the clock of Redis', async () => {
  const clock = () => NOW + 5 * 365 * 24 * HOUR_MS;
  const log = await openLmdbEventLog({ folder, partitions: 1, clock, retentionMs: () => HOUR_MS });
  const registry = await openLogRegistry({ eventLog: log, clock, randomSalt: () => 'ab'.repeat(32) });
  for (const day of ['2030-06-05', '2030-06-10', '2035-06-09']) await registry.salt(day);
  let removals = 0;
  const removeSaltsBefore = async (day: string): Promise<void> => {
    await registry.removeSaltsBefore(day);
    removals += 1;
  };
  const logged: object[] = [];
  const logger = { ...createLogger('silent'), error: (entry: object) => void logged.push(entry) };
  const oldestUnreadAt = async () => Number.POSITIVE_INFINITY;
  const job = startForgettingSalts({
    registry: { ...registry, removeSaltsBefore },
    ...{ oldestUnreadAt, rawRetentionMs: 72 * HOUR_MS, intervalMs: 3600_000, clock, sharedClock: async () => NOW },
    logger: logger as ReturnType<typeof createLogger>,
  });
  await eventually('old salts are removed', () => removals === 1);
  job.close();
  const exists = (day: string) => registry.existingSalt(day) !== undefined;
  expect(['2030-06-05', '2030-06-10', '2035-06-09'].filter(exists)).toEqual(['2030-06-10', '2035-06-09']);
  expect(logged[0]).toEqual({ aheadSeconds: 5 * 365 * 24 * 3600 });
  await registry.close();
  await log.close();
});
