import { randomBytes } from 'node:crypto';
import { readEntry, type Tombstone, tombstoneKey } from '@weir/domain/erasure/tombstone';
import type { Erasure } from '@weir/ports/registry';
import { openLmdbEventLog } from '../lmdb/lmdb-event-log.ts';
import { openLogRegistry } from './log-registry.ts';

type Registry = Awaited<ReturnType<typeof openLogRegistry>>;

/** Storing a request for an erasure takes less time than this, also with many tombstones on a slow disk. */
const REQUEST_MS_MAX = 3_600_000;

export interface EraseAgain {
  /** The folder of a restored log, which no process has open. */
  readonly folder: string;
  /** All tombstones (docs/glossary.md) of the installation that was backed up. Erasures that are newer than this list cannot be repeated. */
  readonly tombstones: readonly Tombstone[];
  /** When the backup was begun, in Unix milliseconds. If an erasure ended later, the tables of the backup can still contain its rows. */
  readonly begunAt: number;
}

/**
 * Adds to a restored registry the erasures that were perhaps not done yet when the tables were copied for the backup. The next start performs them
 * before it serves any request. Resolves with their number. Also removes replays, because the shadow tables (docs/glossary.md) of a replay are not
 * in a backup.
 */
export async function eraseAgain({ folder, tombstones, begunAt }: EraseAgain): Promise<number> {
  const eventLog = await openLmdbEventLog({
    folder,
    partitions: 1,
    clock: Date.now,
    retentionMs: () => Number.MAX_SAFE_INTEGER,
  });
  const randomSalt = () => randomBytes(32).toString('hex');
  const registry = await openLogRegistry({ eventLog, clock: Date.now, randomSalt });
  try {
    // The restored tables do not contain the result of an expiry that was running during the backup. So this expiry is removed from the registry,
    // and a new one will begin.
    if (registry.expiry() !== undefined) await registry.removeExpiry();
    await removeReplays(registry);
    const known = new Set(registry.allTombstones().map(tombstoneKey));
    // The backup copied the tables before the registry, so the tables can be older than the phase of an open erasure: they can lack records that it
    // had waited for, or have rows that it had already deleted. So each open erasure is repeated from its first phase.
    const isMissing = ({ phase, finishedAt = 0 }: Erasure): boolean => phase !== 'done' || finishedAt >= begunAt;
    const missing = tombstones.filter((tombstone) => !known.has(tombstoneKey(tombstone)));
    // The log can have been copied after the tombstone of an erasure was stored, and before the erasure itself. Older tombstones without an erasure
    // are those of receipts that were removed.
    const isWithoutErasure = ({ erasureId, at }: Tombstone): boolean =>
      registry.erasure(erasureId) === undefined && at >= begunAt - REQUEST_MS_MAX;
    for (const tombstone of missing) await registry.putTombstone(tombstone);
    const again = new Set([
      ...[...missing, ...registry.allTombstones().filter(isWithoutErasure)].map(({ erasureId }) => erasureId),
      ...registry.erasures().flatMap((erasure) => (isMissing(erasure) ? [erasure.erasureId] : [])),
    ]);
    for (const erasureId of again) {
      const parts = registry.allTombstones().filter((one) => one.erasureId === erasureId);
      const { phase, archiveEnds, removesSite } = registry.erasure(erasureId) ?? {};
      // An erasure in the phase `archive` may not have erased all of its records from the archive. It keeps `archiveEnds` (the offsets that must be
      // archived before), so that it erases the archive again. An erasure that may not have removed its site yet removes it again.
      await registry.putErasure({
        ...erasureOf(erasureId, parts),
        ...(phase === 'archive' && archiveEnds !== undefined ? { archiveEnds } : {}),
        ...(phase !== 'done' && removesSite !== undefined ? { removesSite } : {}),
      });
    }
    return again.size;
  } finally {
    await registry.close();
    await eventLog.close();
  }
}

/**
 * Removes all replays, because a backup does not contain their shadow tables: a swap (docs/glossary.md) would always be refused, or would exchange
 * the tables with empty ones. If a replay had paused the writers for its swap, also ends this pause, because no other process would end it.
 */
async function removeReplays(registry: Registry): Promise<void> {
  for (let replay = registry.replay(); replay !== undefined; replay = registry.replay()) {
    await registry.removeReplay(replay.request.replayId);
  }
  const pause = registry.writersPause();
  if (pause?.over === false) await registry.putWritersPause({ ...pause, over: true });
}

function erasureOf(erasureId: string, parts: readonly Tombstone[]): Erasure {
  const [{ siteId, at, whole }] = parts as readonly [Tombstone, ...Tombstone[]];
  const kinds = parts.flatMap(({ entries }) => entries.map((entry) => readEntry(entry).kind));
  const count = (wanted: string): number => kinds.filter((kind) => kind === wanted).length;
  const asked = { siteId, erasureId, at, whole, visitors: count('v'), users: count('u') };
  return { ...asked, phase: 'waiting', removed: {}, begun: {}, restored: true };
}
