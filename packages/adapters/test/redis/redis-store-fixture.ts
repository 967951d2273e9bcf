import { randomUUID } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import type { StateStoreFixture } from '../../../ports/contract/state-store.contract.ts';
import type { RedisConfig } from '../../src/redis/redis-connection.ts';
import { openRedisRateLimiter } from '../../src/redis/redis-rate-limiter.ts';
import { openRedisStateStore, type RedisStateStore } from '../../src/redis/redis-state-store.ts';

export interface RedisPlace {
  readonly url: string;
  readonly tls?: ConnectionOptions;
  readonly sentinel?: RedisConfig['sentinel'];
  /** Default: 10 s, because the machine may be busy. */
  readonly commandTimeoutMs?: number;
}

export const withDefaults = (place: RedisPlace) => ({
  commandTimeoutMs: 10_000,
  ...place,
  clock: Date.now,
  logger: createLogger('silent'),
});

export async function openConnectedStore(place: RedisPlace, keyPrefix: string): Promise<RedisStateStore> {
  const store = await openRedisStateStore({ ...withDefaults(place), keyPrefix });
  await eventually('connected', () => store.ping().then(() => true));
  return store;
}

/** Opens two limiters that share their keys in Redis. Resolves when both are connected, because an unconnected limiter counts in memory. */
export async function openConnectedLimiters(place: RedisPlace): Promise<readonly [RateLimiter, RateLimiter]> {
  const keyPrefix = `test-${randomUUID()}:`;
  const open = () => openRedisRateLimiter({ ...withDefaults(place), keyPrefix, salt: () => 'salt' });
  const [one, two] = [open(), open()] as const;
  await eventually('both count together', async () => {
    const key = randomUUID();
    const allowed = async (limiter: RateLimiter) => (await limiter.take('identify', key, 1)).allowed;
    return (await allowed(one)) && !(await allowed(two));
  });
  return [one, two];
}

export async function openConnectedLimiter(place: RedisPlace): Promise<RateLimiter> {
  const [one, two] = await openConnectedLimiters(place);
  await two.close();
  return one;
}

export async function openRedisStoreFixture(place: RedisPlace): Promise<StateStoreFixture> {
  const keyPrefix = `test-${randomUUID()}:`;
  const open = () => openConnectedStore(place, keyPrefix);
  let store = await open();
  const others: RedisStateStore[] = [];
  return {
    get store() {
      return store;
    },
    async another() {
      const other = await open();
      others.push(other);
      return other;
    },
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async close() {
      await Promise.all([store, ...others].map((one) => one.close()));
    },
  };
}
