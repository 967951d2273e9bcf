import { isDependencyError } from '@weir/domain/errors';
import { createLogger } from '@weir/runtime/logger';
import { describeLive } from '@weir/testkit/live-ports';
import { rateLimiterContract } from '../../ports/contract/rate-limiter.contract.ts';
import { stateStoreContract } from '../../ports/contract/state-store.contract.ts';
import { openRedisRateLimiter } from '../src/redis-rate-limiter.ts';
import { openRedisStateStore } from '../src/redis-state-store.ts';
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

  test('two limiters count together', async () => {
    const [one, two] = await openConnectedLimiters({ url: url() });
    const allowed = await Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 2 ? one : two).take('events', 'k', 120)),
    );
    expect(allowed.filter((limit) => limit.allowed)).toHaveLength(120);
    await Promise.all([one.close(), two.close()]);
  });

  test('`drift` finds nothing to complain of', async () => {
    const store = await openConnectedStore({ url: url() }, 'x:');
    expect(await store.drift()).toEqual([]);
    await store.close();
  });
});

test('without Redis every call rejects with state_store_unavailable, and limits are counted in the process', async () => {
  const config = { url: 'redis://127.0.0.1:1', clock: Date.now, logger };
  const store = await openRedisStateStore(config);
  const failed = await store.claimKeys([{ siteId: 's', key: 'k', owner: 'o' }]).catch((error: unknown) => error);
  expect(isDependencyError(failed, 'state_store_unavailable')).toBe(true);
  await store.close();
  const limiter = openRedisRateLimiter(config);
  const taken = [await limiter.take('events', 'a', 1), await limiter.take('events', 'a', 1)];
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, false]);
  await limiter.close();
});

test('without Redis no more than the number of keys is held', async () => {
  const limiter = openRedisRateLimiter({
    url: 'redis://127.0.0.1:1',
    clock: Date.now,
    logger,
    keysMax: 10,
  });
  const first = async () => (await limiter.take('events', 'first', 1)).allowed;
  expect([await first(), await first()]).toEqual([true, false]);
  for (let i = 0; i < 10; i++) await limiter.take('events', `other ${i}`, 1);
  expect(await first()).toBe(true);
  await limiter.close();
});
