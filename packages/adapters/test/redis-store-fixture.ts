import { randomUUID } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import type { StateStoreFixture } from '../../ports/contract/state-store.contract.ts';
import { openRedisStateStore, type RedisStateStore } from '../src/redis-state-store.ts';

export interface RedisPlace {
  readonly url: string;
  readonly tls?: ConnectionOptions;
}

/** Resolves when it is connected. */
export async function openConnectedStore(place: RedisPlace, keyPrefix: string): Promise<RedisStateStore> {
  const store = await openRedisStateStore({ ...place, clock: Date.now, logger: createLogger('silent'), keyPrefix });
  await eventually('connected', () => store.ping().then(() => true));
  return store;
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
