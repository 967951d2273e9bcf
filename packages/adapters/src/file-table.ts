import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { createTableStore, type TableStore } from './table-store.ts';

type Rows = readonly (readonly [key: string, value: string])[];

/**
 * A small table as one file, for rows that must be gone from the disk when they are removed: LMDB keeps the old bytes of freed
 * pages, for how long nobody knows. Each put writes a new file in place of the old one, whose bytes are then overwritten.
 * Rejects with `event_log_unavailable`.
 */
export async function openFileTable(path: string): Promise<TableStore> {
  const next = `${path}.new`;
  let rows = await unlessBroken(path, async () => {
    // Left by a crash; what it says was never acknowledged.
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
      // Now: it stands after a restart, whatever comes of the old bytes.
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

/** The file has no name any more; a disk that writes in place forgets its bytes too. */
async function overwrite(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size), 0, size, 0);
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function unlessBroken<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new DependencyError('event_log_unavailable', `can't read or write ${path}`, { cause: error });
  }
}
