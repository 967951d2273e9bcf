import { randomUUID } from 'node:crypto';
import { isDependencyError } from '@weir/domain/errors';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Redis } from 'ioredis';
import { rateLimiterContract } from '../../../ports/contract/rate-limiter.contract.ts';
import { stateStoreContract } from '../../../ports/contract/state-store.contract.ts';
import { openRedisRateLimiter } from '../../src/redis/redis-rate-limiter.ts';
import { openRedisStateStore } from '../../src/redis/redis-state-store.ts';
import {
  openConnectedLimiter,
  openConnectedLimiters,
  openConnectedStore,
  openRedisStoreFixture,
} from './redis-store-fixture.ts';

const logger = createLogger('silent');

describeLive('redis', (url) => {
  stateStoreContract('the Redis state store', () => openRedisStoreFixture({ url: url() }));

  rateLimiterContract('Redis', () => openConnectedLimiter({ url: url() }));

  test('two limiters share one count', async () => {
    const [one, two] = await openConnectedLimiters({ url: url() });
    const allowed = await Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 2 ? one : two).take('events', 'k', 120)),
    );
    expect(allowed.filter((limit) => limit.allowed)).toHaveLength(120);
    await Promise.all([one.close(), two.close()]);
  });

  test('two limiters allow the batches within the limit and do not count the others', async () => {
    const [one, two] = await openConnectedLimiters({ url: url() });
    const taken = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? one : two).take('events', 'k', 120, 7)),
    );
    expect(taken.filter((limit) => limit.allowed)).toHaveLength(17);
    expect(await two.take('events', 'k', 120, 1)).toMatchObject({ allowed: true, remaining: 0 });
    await Promise.all([one.close(), two.close()]);
  });

  test("a refused batch is allowed when the window's key has expired", async () => {
    const keyPrefix = `test-${randomUUID()}:`;
    const limiter = openRedisRateLimiter({
      url: url(),
      keyPrefix,
      commandTimeoutMs: 10_000,
      clock: Date.now,
      logger,
      salt: () => 'salt',
    });
    const client = new Redis(url());
    const key = `${keyPrefix}limit:events:k`;
    await eventually('counted in Redis', async () => {
      await limiter.take('events', 'k', 3, 1);
      return (await client.get(key)) !== null;
    });
    await client.pexpire(key, 30_000);
    const refused = await limiter.take('events', 'k', 3, 3);
    expect(refused.allowed).toBe(false);
    expect(refused.resetSeconds).toBeLessThanOrEqual(30);
    await client.pexpire(key, 1);
    await eventually('the window ends', async () => (await limiter.take('events', 'k', 3, 3)).allowed);
    expect(await limiter.take('events', 'k', 3, 1)).toMatchObject({ allowed: false, resetSeconds: 60 });
    await limiter.close();
    client.disconnect();
  });

  test('`drift` reports nothing for a correctly configured server', async () => {
    const store = await openConnectedStore({ url: url() }, 'x:');
    expect(await store.drift()).toEqual([]);
    await store.close();
  });

  test('`serverTime` is the time of the server, in milliseconds', async () => {
    const store = await openConnectedStore({ url: url() }, 'x:');
    expect(new Date(await store.serverTime()).toISOString()).toMatch(/^20[2-9]/);
    await store.close();
  });
});

test('without Redis every call rejects with state_store_unavailable, and limits are counted in the process', async () => {
  const config = { url: 'redis://127.0.0.1:1', clock: Date.now, logger };
  const store = await openRedisStateStore(config);
  const failed = await store.claimKeys([{ siteId: 's', key: 'k', owner: 'o' }]).catch((error: unknown) => error);
  expect(isDependencyError(failed, 'state_store_unavailable')).toBe(true);
  await store.close();
  const limiter = openRedisRateLimiter({ ...config, salt: () => 'salt' });
  const taken = [await limiter.take('events', 'a', 1), await limiter.take('events', 'a', 1)];
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, false]);
  const batches = [await limiter.take('events', 'b', 5, 3), await limiter.take('events', 'b', 5, 3)];
  expect(batches.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 2],
    [false, 2],
  ]);
  await limiter.close();
});

test('without Redis the number of keys in memory is limited', async () => {
  const limiter = openRedisRateLimiter({
    url: 'redis://127.0.0.1:1',
    clock: Date.now,
    logger,
    salt: () => 'salt',
    keysMax: 10,
  });
  const first = async () => (await limiter.take('events', 'first', 1)).allowed;
  expect([await first(), await first()]).toEqual([true, false]);
  for (let i = 0; i < 10; i++) await limiter.take('events', `other ${i}`, 1);
  expect(await first()).toBe(true);
  await limiter.close();
});
