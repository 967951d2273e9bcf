import { readRedisUrl } from '@weir/domain/net/redis-url';
import {
  CLAIM_PENDING_MS,
  type ClaimOutcome,
  type FirstSeenKey,
  IDEMPOTENCY_WINDOW_MS,
  type KeyClaim,
  type PartitionState,
  type RawPartition,
  type StateChange,
  type StateStore,
} from '@weir/ports/state-store';
import { allServers, connectRedis, orUnavailable, type RedisConfig, removeMatching } from './redis-connection.ts';
import { createRedisEpochs } from './redis-epochs.ts';
import { withScripts } from './redis-scripts.ts';

export interface RedisStateStoreConfig extends RedisConfig {
  /** Prefix of every key, for a shared Redis. */
  readonly keyPrefix?: string;
  /**
   * The longest time between the receipt and the processing of a raw record: the retention of `events.raw` (RAW_RETENTION_HOURS). First-seen keys
   * (docs/glossary.md) are kept for the window of idempotency keys (24 h) plus this time. Default: 72 h.
   */
  readonly processingLagMaxMs?: number;
}

export interface RedisStateStore extends StateStore {
  /** Resolves with one sentence for each setting of the server that breaks exactly-once. Call it every minute. */
  drift(): Promise<readonly string[]>;
  /**
   * Resolves with the time of the server in Unix milliseconds, or with `Infinity` if the server does not report its time. The enricher removes
   * expired daily salts (docs/glossary.md) by the earlier of its own time and this time. So with `Infinity`, only its own time counts.
   */
  serverTime(): Promise<number>;
  /** Removes all keys of the store. Resolves when they are removed. */
  removeAll(): Promise<void>;
}

const PROCESSING_LAG_MAX_MS = 72 * 3600_000;
/**
 * How long Redis keeps the applied offset of a partition (the offset in `events.raw` up to which its state was applied) after the last write of
 * the state. When the applied offset has expired, the enricher rebuilds the state from the records of the last 24 hours and 10 minutes. If any
 * partition lags by more than ten minutes, the enricher uses all records.
 */
const STATE_OFFSET_TTL_MS = 90 * 24 * 3600_000;

/** Opens the state store in Redis. Does not wait for a connection. While there is no connection, every call rejects at once. */
export async function openRedisStateStore(config: RedisStateStoreConfig): Promise<RedisStateStore> {
  const connection = connectRedis(config);
  const client = withScripts(connection.client);
  const prefix = config.keyPrefix ?? 'weir:';
  const isCluster = readRedisUrl(config.url).kind === 'cluster';
  const epochs = createRedisEpochs(client, prefix, isCluster, config.clock);
  const processingLagMaxMs = config.processingLagMaxMs ?? PROCESSING_LAG_MAX_MS;
  // Text in braces is a hash tag of Redis. In a cluster, all claims and first-seen keys of a site are in one slot, and so are all keys of a
  // partition's state.
  const claimKey = ({ siteId, key }: Pick<KeyClaim, 'siteId' | 'key'>) => `${prefix}claim:{${siteId}}:${key}`;
  const firstSeenKey = ({ siteId, key }: Pick<FirstSeenKey, 'siteId' | 'key'>) => `${prefix}first:{${siteId}}:${key}`;
  const firstSeenCall = (epochKey: string, epoch: string, group: readonly FirstSeenKey[], windowMs: number) =>
    [
      group.length + 1,
      epochKey,
      ...group.map(firstSeenKey),
      epoch,
      windowMs,
      windowMs + processingLagMaxMs,
      ...group.flatMap(({ receivedAt, recordId }) => [receivedAt, recordId]),
    ] as const;
  const byServer: ByServer = (items, call) => callByServer(items, isCluster, call);
  const stateTag = ({ logId, partition }: RawPartition) => `${prefix}fold:{${logId}:${partition}}`;

  return {
    claimKeys: (keys) =>
      byServer<KeyClaim, ClaimOutcome>(keys, (group) =>
        client.weirClaim(group.length, ...group.map(claimKey), CLAIM_PENDING_MS, ...group.map(({ owner }) => owner)),
      ),
    async confirmKeys(keys) {
      await byServer(keys, async (group) => {
        await client.weirConfirm(
          group.length,
          ...group.map(claimKey),
          IDEMPOTENCY_WINDOW_MS,
          ...group.map(({ owner }) => owner),
        );
        return [];
      });
    },
    async releaseKeys(keys) {
      await byServer(keys, async (group) => {
        await client.weirRelease(group.length, ...group.map(claimKey), ...group.map(({ owner }) => owner));
        return [];
      });
    },
    ...epochs,
    async insertFirstSeen(epoch, records, windowMs) {
      let over = false;
      const answers = await byServer<FirstSeenKey, FirstSeenKey>(records, async (group) => {
        const held = await epochs.onSite(epoch, group[0]!.siteId, (epochKey) =>
          client.weirInsertFirstSeen(...firstSeenCall(epochKey, epoch, group, windowMs)),
        );
        over ||= held === null;
        return group.map((asked, index) => readFirstSeen(asked, held?.[index] ?? ''));
      });
      return over ? undefined : answers;
    },
    async overwriteFirstSeen(epoch, records, windowMs) {
      let over = false;
      await byServer(records, async (group) => {
        const kept = await epochs.onSite(epoch, group[0]!.siteId, (epochKey) =>
          client.weirOverwriteFirstSeen(...firstSeenCall(epochKey, epoch, group, windowMs)),
        );
        over ||= kept === null;
        return [];
      });
      return !over;
    },
    async readState(epoch, partition, keys): Promise<PartitionState> {
      const tag = epochs.placeOf(epoch, stateTag(partition)).tag;
      const [appliedTo, ...values] = await orUnavailable(client.mget([tag, ...keys.map((key) => `${tag}:${key}`)]));
      return { appliedTo: Number(appliedTo ?? 0), values: values.map((value) => value ?? undefined) };
    },
    async writeState(epoch, partition, { from, to }, changes) {
      const { tag, epochKey, compared, listed } = epochs.placeOf(epoch, stateTag(partition));
      const keys = [epochKey, tag, ...changes.map(({ key }) => `${tag}:${key}`)];
      const given = [compared, from, to, STATE_OFFSET_TTL_MS, listed, ...changes.flatMap(toStateArguments)];
      const applied = await orUnavailable(client.weirWriteState(keys.length, ...keys, ...given));
      return applied ?? undefined;
    },
    async removeState(epoch, partition, keys) {
      if (keys.length === 0) return;
      for (const tag of await epochs.tagsOf(epoch, stateTag(partition))) {
        await orUnavailable(client.del(keys.map((key) => `${tag}:${key}`)));
      }
    },
    async removeKeys(siteId, keys) {
      if (keys.length === 0) return;
      const ids = keys.map((key) => ({ siteId, key }));
      await orUnavailable(client.del([...ids.map(claimKey), ...ids.map(firstSeenKey)]));
    },
    async removeSiteKeys(siteId) {
      for (const kind of ['claim', 'first']) await removeMatching(client, `${prefix}${kind}:{${siteId}}:*`);
    },
    async ping() {
      // Writes a key that expires at once, because a server that has no memory left, or has become a replica, still answers PING.
      await orUnavailable(client.set(`${prefix}ping`, '', 'PX', 1));
    },
    async drift() {
      const infos = (await allServers(client)).map((server) => orUnavailable(server.info('memory')));
      const policies = (await Promise.all(infos)).map((memory) => /^maxmemory_policy:(\S+)/m.exec(memory)?.[1]);
      const wrong = new Set(policies.filter((policy) => policy !== 'noeviction'));
      return [...wrong].map((policy) => `maxmemory-policy is ${policy}, not noeviction`);
    },
    async serverTime() {
      // INFO is allowed by the ACLs of all versions of Weir (infra/redis/users.acl). TIME is not.
      const server = await orUnavailable(client.info('server'));
      const micros = /^server_time_usec:(\d+)/m.exec(server)?.[1];
      return micros === undefined ? Number.POSITIVE_INFINITY : Math.floor(Number(micros) / 1000);
    },
    removeAll: () => removeMatching(client, `${prefix}*`),
    async close() {
      connection.close();
    },
  };
}

type ByServer = <Item extends { readonly siteId: string }, Result>(
  items: readonly Item[],
  call: (group: readonly Item[]) => Promise<readonly Result[]>,
) => Promise<readonly Result[]>;

/**
 * Calls a script once for all items. In a cluster, the keys of two sites can be on different servers. So there it calls the script once per
 * site, concurrently. Resolves with the results in the order of the items.
 */
async function callByServer<Item extends { readonly siteId: string }, Result>(
  items: readonly Item[],
  isCluster: boolean,
  call: (group: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const groups = new Map<string, { items: Item[]; indexes: number[] }>();
  items.forEach((item, index) => {
    const together = isCluster ? item.siteId : '';
    const group = groups.get(together) ?? { items: [], indexes: [] };
    group.items.push(item);
    group.indexes.push(index);
    groups.set(together, group);
  });
  const results = new Array<Result>(items.length);
  const calls = [...groups.values()].map(async (group) => {
    const found = await call(group.items);
    found.forEach((result, nth) => {
      results[group.indexes[nth]!] = result;
    });
  });
  await orUnavailable(Promise.all(calls));
  return results;
}

function readFirstSeen(asked: FirstSeenKey, held: string): FirstSeenKey {
  const space = held.indexOf(' ');
  return { ...asked, recordId: held.slice(0, space), receivedAt: Number(held.slice(space + 1)) };
}

function toStateArguments({ value, ttlMs }: StateChange): readonly (string | number)[] {
  return value === undefined || ttlMs <= 0 ? [0, ''] : [ttlMs, value];
}
