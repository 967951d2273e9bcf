import type { ConnectionOptions } from 'node:tls';
import { DependencyError } from '@weir/domain/errors';
import type { Logger } from '@weir/runtime/logger';
import { Cluster, Redis } from 'ioredis';
import { type RedisAddress, readRedisUrl } from './redis-url.ts';

export interface RedisConfig {
  /** See redis-url.ts for its forms. */
  readonly url: string;
  /** Beside `rediss…`: certificates and the like. */
  readonly tls?: ConnectionOptions;
  /** Of a command, and with it the time-outs of the connection. Default: 700. */
  readonly commandTimeoutMs?: number;
  readonly clock: () => number;
  readonly logger: Logger;
}

export type RedisClient = Redis | Cluster;

/** Redis is a cache here: a call that can't be answered soon is better not answered. */
export const COMMAND_TIMEOUT_MS = 700;
const CONNECT_TIMEOUT_MS = 500;
/** A connection on which nothing has come for so long, though commands wait, is thrown away with all that it holds. */
const SOCKET_TIMEOUT_MS = 2_000;
const RECONNECT_PAUSE_MAX_MS = 500;

/** Connects in the background, again and again: whoever uses it goes on without Redis. */
export function connectRedis(config: RedisConfig): RedisClient {
  const { logger } = config;
  const address = readRedisUrl(config.url);
  const client = address.kind === 'cluster' ? openCluster(address, config) : openSingle(address, config);
  let away = false;
  client.on('ready', () => {
    if (away) logger.info('redis is back');
    away = false;
  });
  client.on('error', (error: Error) => {
    if (!away) logger.warn({ reason: error.message }, 'redis is away');
    away = true;
  });
  return client;
}

/** Lets go without waiting for an answer that may never come. */
export function disconnectRedis(client: RedisClient): void {
  client.disconnect();
}

/** Runs commands; any failure of theirs is `state_store_unavailable`. */
export async function orUnavailable<T>(commands: Promise<T>): Promise<T> {
  try {
    return await commands;
  } catch (error) {
    throw new DependencyError('state_store_unavailable', `redis: ${(error as Error).message}`, { cause: error });
  }
}

function openSingle(address: RedisAddress, config: RedisConfig): Redis {
  const [first] = address.hosts;
  const place =
    address.kind === 'sentinel'
      ? {
          sentinels: [...address.hosts],
          name: address.masterName,
          failoverDetector: true,
          ...(address.tls ? { enableTLSForSentinelMode: true } : {}),
        }
      : { host: first!.host, port: first!.port };
  return new Redis({ ...place, ...common(address, config), db: address.db, retryStrategy: pauseBefore });
}

function openCluster(address: RedisAddress, config: RedisConfig): Cluster {
  return new Cluster([...address.hosts], {
    enableOfflineQueue: false,
    clusterRetryStrategy: pauseBefore,
    redisOptions: common(address, config),
  });
}

function common(address: RedisAddress, { tls, commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisConfig) {
  const scaled = (ms: number) => Math.round((ms * commandTimeoutMs) / COMMAND_TIMEOUT_MS);
  return {
    ...(address.username === '' ? {} : { username: address.username }),
    ...(address.password === '' ? {} : { password: address.password }),
    ...(address.tls ? { tls: { ...tls } } : {}),
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: scaled(CONNECT_TIMEOUT_MS),
    socketTimeout: scaled(SOCKET_TIMEOUT_MS),
    // A master that became a replica behind its address: whoever connects anew finds the present one.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  };
}

const pauseBefore = (attempt: number) => Math.min(attempt * 50, RECONNECT_PAUSE_MAX_MS);
