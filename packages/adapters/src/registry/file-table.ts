import { existsSync, readFileSync, statSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { syncFolder } from '@weir/runtime/disk/sync-folder';
import { createTableStore, type TableStore } from './table-store.ts';

/** Error codes of `link` on file systems that cannot create a hard link. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

type Rows = readonly (readonly [key: string, value: string])[];

/**
 * Opens a small table in one file, for rows whose bytes must be erased when they are removed. LMDB is not suitable: it leaves old bytes in free
 * pages for an unknown time. Each put replaces the file by a new one and then overwrites the bytes of the old file. Until then, the old file has
 * a second name (a hard link). After a crash or a failure, the next put or the next opening finds this name and overwrites the old file.
 * Rejects with `event_log_unavailable`.
 */
export async function openFileTable(path: string): Promise<TableStore> {
  const next = `${path}.new`;
  const old = `${path}.old`;
  let rows = await unlessBroken(path, async () => {
    await eraseLeftovers();
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Rows) : [];
  });
  let last: Promise<unknown> = Promise.resolve();

  /** Erases the files that remain after a crash or a failure. A change in the file `next` may be erased, because it was not acknowledged. */
  async function eraseLeftovers(): Promise<void> {
    // After a crash before the rename, `path` and `old` are two names of the present file, which must not be overwritten.
    if (existsSync(path) && existsSync(old) && statSync(path).ino === statSync(old).ino) await rm(old);
    // The rename must be durable before the bytes of the old file are overwritten.
    if (existsSync(old)) await syncFolder(dirname(path));
    for (const name of [next, old]) if (existsSync(name)) await erase(name);
  }

  async function replace(wanted: Rows, apply: () => void): Promise<void> {
    await eraseLeftovers();
    const previous = existsSync(path) ? await open(path, 'r+') : undefined;
    try {
      await writeFile(next, JSON.stringify(wanted), { mode: 0o600, flush: true });
      if (previous !== undefined) {
        await linkIfPossible(path, old);
        await syncFolder(dirname(path));
      }
      await rename(next, path);
      await syncFolder(dirname(path));
      rows = wanted;
      // The change is durable now, even if the old bytes cannot be overwritten.
      apply();
      if (previous !== undefined) await overwrite(previous);
      await rm(old, { force: true });
    } finally {
      await previous?.close();
    }
  }

  return createTableStore(rows, (key, value, apply) => {
    const written = last.then(async () => {
      const others = rows.filter(([other]) => other !== key);
      await unlessBroken(path, () => replace(value === undefined ? others : [...others, [key, value]], apply));
    });
    last = written.catch(() => undefined);
    return written;
  });
}

/** Some file systems do not support hard links. On them, a crash can leave the old bytes in free blocks of the disk. */
async function linkIfPossible(path: string, name: string): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function erase(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await overwrite(file);
  } finally {
    await file.close();
  }
  await rm(path);
}

/** Overwrites a file with zeros. This erases the old bytes only on disks and file systems that write in place. */
async function overwrite(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size), 0, size, 0);
  await file.sync();
}

async function unlessBroken<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new DependencyError(
      'event_log_unavailable',
      `cannot read or write ${path}: check its permissions and the disk`,
      { cause: error },
    );
  }
}
