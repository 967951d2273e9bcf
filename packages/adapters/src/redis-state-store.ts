import {
  CLAIM_CONFIRMED_MS,
  CLAIM_PENDING_MS,
  type ClaimOutcome,
  type Fold,
  type FoldChange,
  type FoldPartition,
  type KeyClaim,
  type KeyHolder,
  type StateStore,
} from '@weir/ports/state-store';
import { connectRedis, disconnectRedis, orUnavailable, type RedisConfig } from './redis-connection.ts';
import { withScripts } from './redis-scripts.ts';

export interface RedisStateStoreConfig extends RedisConfig {
  /** Before every key, for a Redis that is shared. */
  readonly keyPrefix?: string;
  /** How long after its reception a raw record may still be processed: `RAW_RETENTION_HOURS`. Holders are kept as long. */
  readonly holdLagMaxMs?: number;
}

export interface RedisStateStore extends StateStore {
  /** What of the server's settings is not as Weir needs it, one line each: ask every minute. */
  drift(): Promise<readonly string[]>;
}

const HOLD_LAG_MAX_MS = 72 * 3600_000;
/** Longer than any pause of a partition: without its offset the enricher folds a day again. */
const FOLD_OFFSET_TTL_MS = 90 * 24 * 3600_000;

/** The state store on Redis. Does not wait for a connection: while there is none, every call rejects at once. */
export async function openRedisStateStore(config: RedisStateStoreConfig): Promise<RedisStateStore> {
  const client = withScripts(connectRedis(config));
  const prefix = config.keyPrefix ?? 'weir:';
  const holdLagMaxMs = config.holdLagMaxMs ?? HOLD_LAG_MAX_MS;
  // Braces are hash tags: of a cluster's servers, one holds a site's keys, and one a partition's state.
  const claimKey = ({ siteId, key }: KeyClaim) => `${prefix}claim:{${siteId}}:${key}`;
  const holderKey = ({ siteId, key }: KeyHolder) => `${prefix}first:{${siteId}}:${key}`;
  const foldTag = ({ logId, partition }: FoldPartition) => `${prefix}fold:{${logId}:${partition}}`;

  return {
    claimKeys: (keys) =>
      bySite<KeyClaim, ClaimOutcome>(keys, (group) =>
        client.weirClaim(group.length, ...group.map(claimKey), CLAIM_PENDING_MS, ...group.map(({ owner }) => owner)),
      ),
    async confirmKeys(keys) {
      await bySite(keys, async (group) => {
        await client.weirConfirm(
          group.length,
          ...group.map(claimKey),
          CLAIM_CONFIRMED_MS,
          ...group.map(({ owner }) => owner),
        );
        return [];
      });
    },
    async releaseKeys(keys) {
      await bySite(keys, async (group) => {
        await client.weirRelease(group.length, ...group.map(claimKey), ...group.map(({ owner }) => owner));
        return [];
      });
    },
    holdFirst: (holders, windowMs) =>
      bySite<KeyHolder, KeyHolder>(holders, async (group) => {
        const candidates = group.flatMap(({ receivedAt, holder }) => [receivedAt, holder]);
        const keys = group.map(holderKey);
        const held = await client.weirHoldFirst(
          group.length,
          ...keys,
          windowMs,
          windowMs + holdLagMaxMs,
          ...candidates,
        );
        return group.map((asked, index) => readHolder(asked, held[index] ?? ''));
      }),
    async dropHolders(holders) {
      await bySite(holders, async (group) => {
        await client.weirDropHolders(group.length, ...group.map(holderKey), ...group.map(({ holder }) => holder));
        return [];
      });
    },
    async readFold(partition, keys): Promise<Fold> {
      const tag = foldTag(partition);
      const [appliedTo, ...values] = await orUnavailable(client.mget([tag, ...keys.map((key) => `${tag}:${key}`)]));
      return { appliedTo: Number(appliedTo ?? 0), values: values.map((value) => value ?? undefined) };
    },
    async writeFold(partition, { from, to }, changes) {
      const tag = foldTag(partition);
      const keys = [tag, ...changes.map(({ key }) => `${tag}:${key}`)];
      const given = [from, to, FOLD_OFFSET_TTL_MS, ...changes.flatMap(toFoldArguments)];
      return orUnavailable(client.weirWriteFold(keys.length, ...keys, ...given));
    },
    async ping() {
      await orUnavailable(client.ping());
    },
    async drift() {
      const memory = await orUnavailable(client.info('memory'));
      const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
      return policy === 'noeviction' ? [] : [`maxmemory-policy is ${policy}, not noeviction`];
    },
    async close() {
      disconnectRedis(client);
    },
  };
}

/** One script call for each site, all at once; the results in the order of the items. */
async function bySite<Item extends { readonly siteId: string }, Result>(
  items: readonly Item[],
  call: (group: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const groups = new Map<string, { items: Item[]; indexes: number[] }>();
  items.forEach((item, index) => {
    const group = groups.get(item.siteId) ?? { items: [], indexes: [] };
    group.items.push(item);
    group.indexes.push(index);
    groups.set(item.siteId, group);
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

function readHolder(asked: KeyHolder, held: string): KeyHolder {
  const space = held.indexOf(' ');
  return { ...asked, holder: held.slice(0, space), receivedAt: Number(held.slice(space + 1)) };
}

function toFoldArguments({ value, ttlMs }: FoldChange): readonly (string | number)[] {
  return value === undefined || ttlMs <= 0 ? [0, ''] : [ttlMs, value];
}
