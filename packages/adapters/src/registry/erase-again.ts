import { randomBytes } from 'node:crypto';
import { readEntry, type Tombstone } from '@weir/domain/erasure/tombstone';
import type { Erasure } from '@weir/ports/registry';
import { openLmdbEventLog } from '../lmdb/lmdb-event-log.ts';
import { openLogRegistry } from './log-registry.ts';

type Registry = Awaited<ReturnType<typeof openLogRegistry>>;

export interface EraseAgain {
  /** The folder of a restored log, which no process has open. */
  readonly folder: string;
  /** All tombstones (docs/glossary.md) of the installation that was backed up. The newer this list is, the better. */
  readonly tombstones: readonly Tombstone[];
  /** When the backup was begun, in Unix milliseconds. Erasures that ended later are missing in its tables. */
  readonly begunAt: number;
}

/**
 * Adds to a restored registry the erasures that are missing in the restored tables. The next start carries them out before it serves
 * any request. Also removes a replay, which the restored tables do not have. Resolves with the number of these erasures.
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
    // An expiry in the registry began after the tables were copied, so they do not contain its result. A new expiry will begin.
    if (registry.expiry() !== undefined) await registry.removeExpiry();
    await removeReplays(registry);
    const known = new Set(registry.allTombstones().map(keyOf));
    // The tables were copied before the registry. An erasure in the phase `archive` has already deleted its rows, but perhaps after the tables
    // were copied. It is therefore repeated.
    const isMissing = ({ phase, finishedAt = 0 }: Erasure): boolean => phase === 'archive' || finishedAt >= begunAt;
    const missing = tombstones.filter((tombstone) => !known.has(keyOf(tombstone)));
    for (const tombstone of missing) await registry.putTombstone(tombstone);
    const again = new Set([
      ...missing.map(({ erasureId }) => erasureId),
      ...registry.erasures().flatMap((erasure) => (isMissing(erasure) ? [erasure.erasureId] : [])),
    ]);
    for (const erasureId of again) {
      const parts = registry.allTombstones().filter((one) => one.erasureId === erasureId);
      const { phase, archiveEnds } = registry.erasure(erasureId) ?? {};
      const erasure = erasureOf(erasureId, parts);
      // The archive can still contain the erased records of an erasure that had reached the archive. Such an erasure keeps
      // `archiveEnds`, so it also erases the archive.
      await registry.putErasure(
        phase === 'archive' && archiveEnds !== undefined ? { ...erasure, archiveEnds } : erasure,
      );
    }
    return again.size;
  } finally {
    await registry.close();
    await eventLog.close();
  }
}

/**
 * Removes the replay, because a backup does not contain its shadow tables: a swap would be refused forever, or exchange the tables with
 * empty ones. If the replay had paused the writers for its swap, the pause ends: no other process would end it.
 */
async function removeReplays(registry: Registry): Promise<void> {
  for (let replay = registry.replay(); replay !== undefined; replay = registry.replay()) {
    await registry.removeReplay(replay.request.replayId);
  }
  const pause = registry.writersPause();
  if (pause?.over === false) await registry.putWritersPause({ ...pause, over: true });
}

const keyOf = ({ siteId, erasureId, part }: Tombstone): string => `${siteId}/${erasureId}/${part}`;

function erasureOf(erasureId: string, parts: readonly Tombstone[]): Erasure {
  const [{ siteId, at, whole }] = parts as readonly [Tombstone, ...Tombstone[]];
  const kinds = parts.flatMap(({ entries }) => entries.map((entry) => readEntry(entry).kind));
  const count = (wanted: string): number => kinds.filter((kind) => kind === wanted).length;
  const asked = { siteId, erasureId, at, whole, visitors: count('v'), users: count('u') };
  return { ...asked, phase: 'waiting', removed: {}, begun: {}, restored: true };
}
