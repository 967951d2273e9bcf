import { join } from 'node:path';
import { dropCommits } from '@weir/adapters/lmdb/lmdb-drop-commits';
import { eraseAgain } from '@weir/adapters/registry/erase-again';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { GROUP_WRITER } from '@weir/domain/records/topics';

/**
 * Deletes the writer's commits from a restored log, because they are newer than the restored tables. The writer then continues after the
 * last row of the tables.
 */
export function dropWriterCommits(dataDir: string): Promise<void> {
  return dropCommits(join(dataDir, 'log'), GROUP_WRITER);
}

/**
 * Adds to the restored log the erasures that are missing in the restored tables. The next start of Weir carries out these erasures. `begunAt`: when
 * the backup was begun, in Unix milliseconds. Resolves with the number of these erasures.
 */
export function eraseAgainIn(dataDir: string, tombstones: readonly Tombstone[], begunAt: number): Promise<number> {
  return eraseAgain({ folder: join(dataDir, 'log'), tombstones, begunAt });
}
