import { mkdirSync } from 'node:fs';
import { DependencyError } from '@weir/domain/errors';
import type { StateStore } from '@weir/ports/state-store';
import { open, type RootDatabase } from 'lmdb';
import { type ExpiringRows, startSweep } from './lmdb-expiring-rows.ts';
import { createFolds } from './lmdb-folds.ts';
import { committed, createGroupCommit } from './lmdb-group-commit.ts';
import { createKeyClaims } from './lmdb-key-claims.ts';
import { createKeyHolders } from './lmdb-key-holders.ts';
import { isTrusted, markClosed, markOpened, markOpening, wipe } from './lmdb-power-loss.ts';

export interface LmdbStateStoreConfig {
  readonly folder: string;
  readonly clock: () => number;
  /**
   * How long the holder of an idempotency key is remembered: the window and as long as a raw record may wait to be read.
   * Default 96 h: 24 h and the default retention.
   */
  readonly holderKeptMs?: number;
  /** More claims under way at once are refused. Default 100,000. */
  readonly pendingClaimsMax?: number;
}

const HOLDER_KEPT_MS = 96 * 3600_000;
const PENDING_CLAIMS_MAX = 100_000;

/**
 * A cache of the log, so nothing waits for an fsync: what a call did survives the end of the process, however hard, but a
 * power loss empties the store, and the enricher folds the log again.
 */
export async function openLmdbStateStore(config: LmdbStateStoreConfig): Promise<StateStore> {
  const { folder, clock } = config;
  const env = openEnvironment(folder);
  const confirmed: ExpiringRows = env.openDB({ name: 'confirmed', encoding: 'string' });
  const held: ExpiringRows = env.openDB({ name: 'held', encoding: 'string' });
  const folded: ExpiringRows = env.openDB({ name: 'folded', encoding: 'string' });
  const applied = env.openDB<number, string>({ name: 'applied' });
  const commit = createGroupCommit(env, clock);
  const claims = createKeyClaims(confirmed, commit, clock, config.pendingClaimsMax ?? PENDING_CLAIMS_MAX);
  const holders = createKeyHolders(held, commit, clock, config.holderKeptMs ?? HOLDER_KEPT_MS);
  const folds = createFolds(folded, applied, commit, clock);
  const sweep = startSweep([confirmed, held, folded], commit, clock);
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new DependencyError('state_store_unavailable', 'the state store is closed');
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
    async holdFirst(records, windowMs) {
      assertOpen();
      return holders.holdFirst(records, windowMs);
    },
    async dropHolders(records) {
      assertOpen();
      await holders.dropHolders(records);
    },
    async readFold(partition, keys) {
      assertOpen();
      return folds.read(partition, keys);
    },
    async writeFold(partition, run, changes) {
      assertOpen();
      return folds.write(partition, run, changes);
    },
    async ping() {
      assertOpen();
      if (commit.lastFailure() !== undefined) {
        await committed(commit, 'state_store_unavailable', () => void applied.put('ping', clock()));
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      sweep.stop();
      await commit.idle();
      await env.close();
      markClosed(folder);
    },
  };
}

function openEnvironment(folder: string): RootDatabase {
  try {
    if (!isTrusted(folder)) wipe(folder);
    mkdirSync(folder, { recursive: true });
    markOpening(folder);
    const env = open({ path: folder, noSync: true, eventTurnBatching: false, maxDbs: 8 });
    markOpened(folder);
    return env;
  } catch (error) {
    throw new DependencyError('state_store_unavailable', `can't open the state store in ${folder}`, { cause: error });
  }
}
