import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import type { RedisStateStore } from '@weir/adapters/redis/redis-state-store';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Stack } from '../stack.ts';
import { openRedisState } from './open-services.ts';

/** Opens and removes the state store of a replay of `events.raw`. It is separate from the state store of live traffic. */
export interface ReplayStateStores {
  /** Opens the store. The caller must close it. */
  open(): Promise<StateStore>;
  /** Removes the store. Call it only when the store is closed. */
  remove(): Promise<void>;
}

export interface ReplayStateDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: () => number;
  readonly disk: DiskSpace | undefined;
  readonly stack: Stack;
}

const FOLDER = 'replay-state';
const REDIS_PREFIX = 'weir:replay:';

export function replayStateStores({ config, logger, clock, disk, stack }: ReplayStateDeps): ReplayStateStores {
  const { redis } = config.engines;
  if (redis === undefined) {
    const folder = join(config.dataDir, FOLDER);
    return {
      open: () => openLmdbStateStore({ folder, clock, disk }),
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  }
  // All replays of this process share one connection, and `close` does nothing. A new connection would refuse calls until it is connected.
  let opened: Promise<RedisStateStore> | undefined;
  const shared = (): Promise<RedisStateStore> => {
    opened ??= openRedisState(redis, { config, clock, logger, stack }, { keyPrefix: REDIS_PREFIX });
    return opened;
  };
  return {
    open: async () => ({ ...(await shared()), close: async () => undefined }),
    remove: async () => (await shared()).removeAll(),
  };
}
