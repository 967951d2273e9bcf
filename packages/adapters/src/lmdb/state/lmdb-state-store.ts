import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import type { DiskSpace } from '@weir/ports/disk-space';
import { BEFORE_UNREAD_MS } from '@weir/ports/kept-from';
import { IDEMPOTENCY_WINDOW_MS, type StateStore } from '@weir/ports/state-store';
import { open, type RootDatabase } from 'lmdb';
import { allocateFiles } from '../lmdb-allocate-files.ts';
import { compactErased, fillEmptyFreeList, markErased } from '../lmdb-compact.ts';
import { isCutShort, openFileSpace } from '../lmdb-file-space.ts';
import { isTrusted, markClosed, markOpened, markOpening, wipe } from '../lmdb-power-loss.ts';
import { createWriteQueue, submitWrite } from '../lmdb-write-queue.ts';
import { type ExpiringRows, removeRows, startSweep } from './lmdb-expiring-rows.ts';
import { createFirstSeenKeys } from './lmdb-first-seen-keys.ts';
import { createKeyClaims, removeSiteRows, siteKey } from './lmdb-key-claims.ts';
import { createPartitionStates } from './lmdb-partition-states.ts';
import { createStateEpochs } from './lmdb-state-epochs.ts';

export interface LmdbStateStoreConfig {
  readonly folder: string;
  readonly clock: () => number;
  /**
   * How long first-seen keys (docs/glossary.md) are kept. This must be the window of idempotency keys (24 h) plus the longest time between the
   * receipt and the processing of a raw record, which is the retention of `events.raw`. Default 96 h: 24 h plus the default retention.
   */
  readonly firstSeenKeptMs?: number;
  /**
   * Resolves with the time at which the oldest raw record that the enricher has not processed was appended; `Infinity` if there is none.
   * First-seen keys that can show that this record is a duplicate are kept for longer than `firstSeenKeptMs`. Default: `Infinity`.
   */
  readonly oldestUnreadAt?: () => Promise<number>;
  /** The maximum number of pending claims. Further claims are refused. Default 100,000. */
  readonly pendingClaimsMax?: number;
  readonly disk?: DiskSpace | undefined;
}

const FIRST_SEEN_KEPT_MS = IDEMPOTENCY_WINDOW_MS + 72 * 3600_000;
const PENDING_CLAIMS_MAX = 100_000;

/**
 * The state store in LMDB. It is a cache of the event log, so no call waits for an fsync. Changes survive `kill -9`. After a power loss, the
 * next opening empties the store, and the enricher computes the state from the log again. While no process has the store open, its folder may be
 * deleted or replaced by an older copy: each opening begins a new epoch (docs/glossary.md).
 */
export async function openLmdbStateStore(config: LmdbStateStoreConfig): Promise<StateStore> {
  const { folder, clock } = config;
  const env = await openEnvironment(folder);
  const confirmed: ExpiringRows = env.openDB({ name: 'confirmed', encoding: 'string' });
  const held: ExpiringRows = env.openDB({ name: 'held', encoding: 'string' });
  const folded: ExpiringRows = env.openDB({ name: 'folded', encoding: 'string' });
  const applied = env.openDB<number, string>({ name: 'applied' });
  const fileSpace = await openFileSpace(join(folder, 'data.mdb'), env, config.disk);
  const writes = createWriteQueue(env, fileSpace, clock);
  await fillEmptyFreeList(env, fileSpace, writes);
  const claims = createKeyClaims(confirmed, writes, clock, config.pendingClaimsMax ?? PENDING_CLAIMS_MAX);
  const { firstSeenKeptMs = FIRST_SEEN_KEPT_MS, oldestUnreadAt = async () => Number.POSITIVE_INFINITY } = config;
  const firstSeenKeys = createFirstSeenKeys(held, writes, clock, firstSeenKeptMs);
  const states = createPartitionStates(folded, applied, writes, clock);
  const epochs = createStateEpochs();
  const heldKeptAfter = async () => (await oldestUnreadAt()) - BEFORE_UNREAD_MS + firstSeenKeptMs;
  const tables = [{ rows: confirmed }, { rows: held, keptAfter: heldKeptAfter }, { rows: folded }];
  const sweep = startSweep(tables, writes, clock);
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new DependencyError('state_store_unavailable', 'the state store is closed');
  }

  function beginErasure(): void {
    assertOpen();
    try {
      markErased(folder);
    } catch (error) {
      throw new DependencyError('state_store_unavailable', `cannot write to ${folder}: ${error}`, { cause: error });
    }
  }

  return {
    async claimKeys(keys) {
      assertOpen();
      return claims.claim(keys);
    },
    async confirmKeys(keys) {
      assertOpen();
      await claims.confirm(keys);
    },
    async releaseKeys(keys) {
      assertOpen();
      claims.release(keys);
    },
    async readEpoch(logId, partitions) {
      assertOpen();
      return epochs.read(logId, partitions);
    },
    async checkIn(epoch, partition) {
      assertOpen();
      return epochs.checkIn(epoch, partition);
    },
    async endEpoch(epoch) {
      assertOpen();
      epochs.end(epoch);
    },
    async insertFirstSeen(epoch, records, windowMs) {
      assertOpen();
      return epochs.lasts(epoch) ? firstSeenKeys.insertFirstSeen(records, windowMs) : undefined;
    },
    async overwriteFirstSeen(epoch, records, windowMs) {
      assertOpen();
      if (!epochs.lasts(epoch)) return false;
      await firstSeenKeys.overwriteFirstSeen(records, windowMs);
      return true;
    },
    async readState(_epoch, partition, keys) {
      assertOpen();
      return states.read(partition, keys);
    },
    async writeState(epoch, partition, run, changes) {
      assertOpen();
      return epochs.lasts(epoch) ? states.write(partition, run, changes) : undefined;
    },
    async removeState(_epoch, partition, keys) {
      beginErasure();
      await states.remove(partition, keys);
    },
    async removeKeys(siteId, keys) {
      beginErasure();
      const ids = keys.map((key) => siteKey({ siteId, key }));
      await removeRows(ids, [confirmed, held], writes);
    },
    async removeSiteKeys(siteId) {
      beginErasure();
      for (const rows of [confirmed, held]) await removeSiteRows(siteId, rows, writes);
    },
    async ping() {
      assertOpen();
      if (writes.lastFailure() !== undefined) {
        await submitWrite(writes, 'state_store_unavailable', () => void applied.put('ping', clock()));
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      sweep.stop();
      await writes.idle();
      await fileSpace.close();
      await env.close();
      markClosed(folder);
    },
  };
}

async function openEnvironment(folder: string): Promise<RootDatabase> {
  try {
    if (!isTrusted(folder)) wipe(folder);
    mkdirSync(folder, { recursive: true });
    markOpening(folder);
    await compactErased(folder);
    await allocateFiles(folder);
    const env = open({ path: folder, noSync: true, eventTurnBatching: false, maxDbs: 8 });
    if (isCutShort(join(folder, 'data.mdb'), env)) {
      await env.close();
      // The marker file still contains the mark of `markOpening`. So in the next call, `isTrusted` returns false, and the files are deleted.
      return await openEnvironment(folder);
    }
    markOpened(folder);
    return env;
  } catch (error) {
    throw new DependencyError('state_store_unavailable', `cannot open the state store in ${folder}: ${error}`, {
      cause: error,
    });
  }
}
