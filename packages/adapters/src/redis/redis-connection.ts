import type { ConnectionOptions } from 'node:tls';
import { DependencyError } from '@weir/domain/errors';
import { type RedisAddress, readRedisUrl } from '@weir/domain/net/redis-url';
import type { Logger } from '@weir/runtime/logger';
import { Cluster, Redis } from 'ioredis';

export interface RedisConfig {
  /** `redis[s]://host`, `redis[s]+sentinel://host1,host2/master` or `redis[s]+cluster://host1,host2`. */
  readonly url: string;
  /** TLS options for `rediss…`, such as certificates. */
  readonly tls?: ConnectionOptions;
  /** The user (empty: the default user) and the password of the Sentinels. By default, Weir sends neither to them. */
  readonly sentinel?: { readonly username: string; readonly password: string } | undefined;
  /** Timeout of a command. The timeouts of the connection scale with it. Default: 700. */
  readonly commandTimeoutMs?: number;
  readonly clock: () => number;
  readonly logger: Logger;
}

export type RedisClient = Redis | Cluster;

export interface RedisConnection {
  readonly client: RedisClient;
  /** Disconnects for good, without waiting for pending answers. */
  close(): void;
}

/** A command that takes longer is rejected, so that it does not delay HTTP requests. */
export const COMMAND_TIMEOUT_MS = 700;
const CONNECT_TIMEOUT_MS = 500;
/** If a connection with waiting commands receives no data for this time, ioredis closes it and rejects the commands. */
const SOCKET_TIMEOUT_MS = 2_000;
const RECONNECT_PAUSE_MAX_MS = 500;

/** Connects and reconnects in the background until `close`. While there is no connection, commands reject at once. */
export function connectRedis(config: RedisConfig): RedisConnection {
  const { logger } = config;
  const address = readRedisUrl(config.url);
  const client = address.kind === 'cluster' ? openCluster(address, config) : openSingle(address, config);
  let away = false;
  client.on('ready', () => {
    if (away) logger.info('redis is available again');
    away = false;
  });
  client.on('error', (error: Error) => {
    if (!away) logger.warn({ reason: error.message }, 'redis is unavailable: reconnecting');
    away = true;
  });
  const stopRetrying = connectAgainAfterTheEnd(client);
  return {
    client,
    close() {
      stopRetrying();
      if (client.status !== 'end') client.disconnect();
    },
  };
}

/**
 * Reconnects in two cases in which ioredis does not, although `close` was not called. First case: a Sentinel announces a new master while the
 * client requests the address of the master. The status is then `end`. Second case: the last connection to a Cluster ends while the client
 * resolves host names. The status is then `close`. Returns a function that stops the retries.
 */
function connectAgainAfterTheEnd(client: RedisClient): () => void {
  let attempts = 0;
  let timer: NodeJS.Timeout | undefined;
  const retry = () => {
    timer = undefined;
    // The rejection is ignored: a failed attempt also emits `error`, and then `close` or `end`, which start the next attempt.
    if (client.status === 'end' || client.status === 'close') client.connect().catch(() => undefined);
  };
  const schedule = () => {
    timer ??= setTimeout(retry, pauseBefore(++attempts));
  };
  client.on('ready', () => {
    attempts = 0;
  });
  client.on('close', schedule);
  client.on('end', schedule);
  return () => {
    client.off('close', schedule);
    client.off('end', schedule);
    clearTimeout(timer);
  };
}

/** Rejects with `state_store_unavailable` if `commands` rejects. */
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
          // Without this limit, ioredis would wait for a Sentinel that hangs, and would never ask the next one.
          sentinelCommandTimeout: config.commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
          ...(config.sentinel === undefined ? {} : { sentinelPassword: config.sentinel.password }),
          ...(config.sentinel?.username ? { sentinelUsername: config.sentinel.username } : {}),
          // `tls` is for the servers, `sentinelTLS` for the Sentinels.
          ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: { ...config.tls } } : {}),
        }
      : { host: first!.host, port: first!.port };
  return new Redis({ ...place, ...common(address, config), db: address.db, retryStrategy: pauseBefore });
}

function openCluster(address: RedisAddress, config: RedisConfig): Cluster {
  return new Cluster([...address.hosts], {
    enableOfflineQueue: false,
    clusterRetryStrategy: pauseBefore,
    // By default, ioredis replaces the host names of the URL by IP addresses, which are usually not in the certificate of the server.
    ...(address.tls ? { dnsLookup: (host, resolve) => resolve(null, host) } : {}),
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
    // READONLY means that the server has become a replica. Reconnecting finds the present master. For a script, versions of Redis before 7.0 put other
    // words before READONLY.
    reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
  };
}

const pauseBefore = (attempt: number) => Math.min(attempt * 50, RECONNECT_PAUSE_MAX_MS);

const SCANNED_AT_ONCE = 1_000;

/**
 * Returns the server, or all masters of a cluster. Rejects with `state_store_unavailable` if one of the masters is not connected: ioredis does not
 * list such a server, and lists none at all before it is connected.
 */
export async function allServers(client: RedisClient): Promise<readonly Redis[]> {
  if (!(client instanceof Cluster)) return [client];
  // A master that has joined the cluster is unknown until the slots are read again. A failed attempt is ignored: the known slots then stay.
  await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()));
  const info = await orUnavailable(client.cluster('INFO'));
  const size = Number(/^cluster_size:(\d+)/m.exec(info)?.[1]);
  const servers = client.nodes('master');
  if (servers.length >= size) return servers;
  throw new DependencyError('state_store_unavailable', `redis: ${servers.length} of ${size} masters are connected`);
}

/**
 * Removes all keys that match a glob, on every server of a cluster. The glob may contain a site ID, which has no special characters of globs.
 */
export async function removeMatching(client: RedisClient, glob: string): Promise<void> {
  for (const server of await allServers(client)) {
    let cursor = '0';
    do {
      const [next, keys] = await orUnavailable(server.scan(cursor, 'MATCH', glob, 'COUNT', SCANNED_AT_ONCE));
      // In a cluster, all keys of one DEL must be in one slot, so each DEL has only keys with the same hash tag. UNLINK would need a further
      // permission.
      for (const sameSlot of byHashTag(keys)) await orUnavailable(client.del(sameSlot));
      cursor = next;
    } while (cursor !== '0');
  }
}

function byHashTag(keys: readonly string[]): Iterable<string[]> {
  const groups = new Map<string, string[]>();
  for (const key of keys) {
    const tag = /\{(.*?)\}/.exec(key)?.[1] ?? key;
    const group = groups.get(tag);
    if (group === undefined) groups.set(tag, [key]);
    else group.push(key);
  }
  return groups.values();
}
