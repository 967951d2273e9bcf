import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore, StoredObject } from '@weir/ports/object-store';
import { assertObjectName } from './object-names.ts';

/** A dot at the start: no object has such a name, so listings leave files out that are still being written. */
const TEMPORARY = '.part-';

/** The object store in a directory, which is created with the first object. */
export function openFileObjectStore(root: string): ObjectStore {
  const pathOf = (name: string): string => {
    assertObjectName(name);
    return join(root, name);
  };

  async function put(name: string, body: Uint8Array | Readable): Promise<void> {
    const path = pathOf(name);
    const folder = dirname(path);
    const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    try {
      // `flush`: the content is on the disk before the rename, so that a power cut leaves the whole object or none.
      await pipeline(
        body instanceof Readable ? body : [body],
        createWriteStream(temporary, { flags: 'wx', flush: true }),
      );
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolders(root, folder);
  }

  async function get(name: string): Promise<Readable | undefined> {
    const path = pathOf(name);
    const found = await unlessMissing(stat(path));
    return found?.isFile() ? createReadStream(path) : undefined;
  }

  async function remove(name: string): Promise<void> {
    await unlessMissing(rm(pathOf(name)));
  }

  async function* list(prefix: string): AsyncIterable<StoredObject> {
    yield* walk('', prefix);
  }

  async function* walk(folder: string, prefix: string): AsyncIterable<StoredObject> {
    const entries = (await unlessMissing(readdir(join(root, folder), { withFileTypes: true }))) ?? [];
    for (const entry of entries.filter(({ name }) => !name.startsWith('.')).sort(byObjectName)) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (`${name}/`.startsWith(prefix) || prefix.startsWith(`${name}/`)) yield* walk(name, prefix);
      } else if (name.startsWith(prefix)) {
        const found = await unlessMissing(stat(join(root, name)));
        if (found !== undefined) yield { name, bytes: found.size, storedAt: Math.trunc(found.mtimeMs) };
      }
    }
  }

  return {
    put: (name, body) => translated(`store ${name} in ${root}`, put(name, body)),
    get: (name) => translated(`read ${name} in ${root}`, get(name)),
    list,
    delete: (name) => translated(`delete ${name} in ${root}`, remove(name)),
    close: () => undefined,
  };
}

/** As S3 orders names: the folder `a` counts as `a/`. */
function byObjectName(a: Dirent, b: Dirent): number {
  const key = (entry: Dirent): Buffer => Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name);
  return Buffer.compare(key(a), key(b));
}

/** A new file, and a new folder, outlast a power cut only when the folder that names it is synced. */
async function syncFolders(root: string, folder: string): Promise<void> {
  for (let at = folder; at.length >= dirname(root).length; at = dirname(at)) {
    const handle = await open(at, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (at === dirname(at)) return;
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Codes that an operator must change something for; all others may pass by themselves. */
const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR'];

async function translated<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new DependencyError(
      REFUSALS.includes(code) ? 'object_store_refused' : 'object_store_unavailable',
      `cannot ${what}: ${message}`,
      { cause: error, isFull: code === 'ENOSPC' || code === 'EDQUOT' },
    );
  }
}
