import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { syncFolder } from '@weir/runtime/disk/sync-folder';
import { createTableStore, type TableStore } from './table-store.ts';

type Rows = readonly (readonly [key: string, value: string])[];

/**
 * Opens a small table in one file, for rows whose bytes must be erased when they are removed. (LMDB leaves old bytes in free pages
 * for an unknown time.) Each put replaces the file and then overwrites the bytes of the old file.
 * Rejects with `event_log_unavailable`.
 */
export async function openFileTable(path: string): Promise<TableStore> {
  const next = `${path}.new`;
  let rows = await unlessBroken(path, async () => {
    // If this file exists, a crash left it behind. The change in it was not acknowledged.
    await rm(next, { force: true });
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Rows) : [];
  });
  let last: Promise<unknown> = Promise.resolve();

  async function replace(wanted: Rows, apply: () => void): Promise<void> {
    const old = existsSync(path) ? await open(path, 'r+') : undefined;
    try {
      await writeDurably(next, JSON.stringify(wanted));
      await rename(next, path);
      await syncFolder(dirname(path));
      rows = wanted;
      // From here on the change is durable, even if overwriting the old bytes fails.
      apply();
      if (old !== undefined) await overwrite(old);
    } finally {
      await old?.close();
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

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Overwrites the old file, which no longer has a name. This erases its bytes only on disks that write in place. */
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
