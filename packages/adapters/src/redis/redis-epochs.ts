import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { StateStore } from '@weir/ports/state-store';
import { orUnavailable, type RedisClient } from './redis-connection.ts';
import type { RedisScripts } from './redis-scripts.ts';

/**
 * In a cluster: how long to wait for the mark of a server (see `createRedisEpochs`) that another client has begun to write. Writing takes less
 * time. If the mark is still missing after this time, the server has lost it.
 */
const MARK_MISSING_MS = 2_000;
const MARK_PAUSE_MS = 20;

/**
 * Where Redis stores the state of a partition. All keys of the state begin with `tag`. One server: a script that writes the state first checks that
 * the value of the key `epochKey` belongs to the epoch with the ID `compared`; `listed` is empty. Cluster: `compared` is empty, and there is no
 * check; the script adds the ID `listed` to the list of epochs in `epochKey`.
 */
interface StatePlace {
  readonly tag: string;
  readonly epochKey: string;
  readonly compared: string;
  readonly listed: string;
}

export interface RedisEpochs extends Pick<StateStore, 'readEpoch' | 'checkIn' | 'endEpoch'> {
  /**
   * Runs a script on the server that has the keys of the site. `call` must run the script. It receives the Redis key that contains the epoch of
   * this server, and the script must compare `epoch` with its value. Resolves with the script's result, or with `null` if the epoch is over.
   */
  onSite<T>(epoch: string, siteId: string, call: (epochKey: string) => Promise<T | null>): Promise<T | null>;
  placeOf(epoch: string, tag: string): StatePlace;
  /** Resolves with the tag of the place for this epoch. In a cluster, also with the tag for each listed epoch: Redis may still have its keys. */
  tagsOf(epoch: string, tag: string): Promise<readonly string[]>;
}

/**
 * Epochs of the state in Redis (`readEpoch` in ports/state-store.ts): a new epoch begins when content may have been lost.
 *
 * One server (or the master of Sentinel): the server stores the ID of the epoch in a record. Every script that writes first-seen keys or
 * partition state compares its epoch with this record. If an older copy of the server's content is restored, a new epoch begins, which continues
 * with the partition state of the copy: the copy is a consistent snapshot.
 *
 * Cluster: the servers can lose content separately, and a script sees only one server. So each server needs its own mark of the epoch:
 * - Before the first key of a site is inserted in an epoch, a mark with the epoch is written to the server of the site.
 * - A flag says that a client has begun to write this mark. The flag is on the server that has the record of the epoch.
 * - If the flag is set and the mark is missing for `MARK_MISSING_MS`, the server of the site has lost its keys, and the epoch ends.
 * In a cluster, the Redis keys of partition state contain the epoch. So the partition state begins empty in each new epoch. The keys of former epochs
 * stay until they expire. So that an erasure finds them, the epochs are listed in a key on the same server as this state.
 */
export function createRedisEpochs(
  client: RedisClient & RedisScripts,
  prefix: string,
  isCluster: boolean,
  clock: () => number,
): RedisEpochs {
  const recordKey = `${prefix}{epoch}`;
  const markKey = (siteId: string) => `${prefix}epoch:{${siteId}}`;
  const listKey = (tag: string) => `${tag}:epochs`;
  const checkInKey = (logId: string, partition: number) => `${recordKey}:in:${logId}:${partition}`;

  async function endEpoch(epoch: string): Promise<void> {
    await orUnavailable(client.weirEndEpoch(1, recordKey, epoch));
  }

  return {
    async readEpoch(logId, partitions) {
      const keys = Array.from({ length: partitions }, (_, partition) => checkInKey(logId, partition));
      const [id, ...checkedIn] = await orUnavailable(
        client.weirReadEpoch(keys.length + 1, recordKey, ...keys, randomUUID()),
      );
      return { id, checkedIn: new Set(checkedIn.map(Number)) };
    },
    async checkIn(epoch, { logId, partition }) {
      const done = await orUnavailable(client.weirCheckIn(2, recordKey, checkInKey(logId, partition), epoch));
      return done !== null;
    },
    endEpoch,
    async onSite(epoch, siteId, call) {
      if (!isCluster) return call(recordKey);
      for (const startedAt = clock(); ; ) {
        const answer = await call(markKey(siteId));
        if (answer !== null) return answer;
        const known = await client.weirClaimMark(2, recordKey, `${recordKey}:site:${siteId}`, epoch);
        if (known === null) return null;
        if (known === 'new') {
          await client.weirMark(1, markKey(siteId), epoch);
        } else if (clock() - startedAt >= MARK_MISSING_MS) {
          await endEpoch(epoch);
          return null;
        } else {
          await pause(MARK_PAUSE_MS);
        }
      }
    },
    placeOf: (epoch, tag) =>
      isCluster
        ? { tag: `${tag}@${epoch}`, epochKey: listKey(tag), compared: '', listed: epoch }
        : { tag, epochKey: recordKey, compared: epoch, listed: '' },
    async tagsOf(epoch, tag) {
      if (!isCluster) return [tag];
      const listed = (await orUnavailable(client.get(listKey(tag)))) ?? '';
      return [...new Set(`${listed}${epoch}`.split(' '))].map((one) => `${tag}@${one}`);
    },
  };
}
