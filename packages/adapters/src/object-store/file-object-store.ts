import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { link, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore, StoredObject } from '@weir/ports/object-store';
import { createFolder } from '@weir/runtime/disk/create-folder';
import { syncFolder } from '@weir/runtime/disk/sync-folder';
import { type FileLock, lockFile } from '@weir/runtime/native/file-lock';
import { objectContent } from './object-content.ts';
import { assertObjectName } from './object-names.ts';

/** The prefix of temporary files. Names of objects never start with a dot, so `list` never returns an unfinished file. */
const TEMPORARY = '.part-';
/** Error codes of file systems that have no hard links. */
const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];
/** Error codes of file systems that have no locks. */
const NO_LOCKS = ['ENOLCK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'];
/** The longest wait for the lock. Processes hold the lock only for a comparison and a rename. */
const LOCK_WITHIN_MS = 10_000;

/** Opens the object store in a directory. The first write creates the directory. `folderMode`: the mode of the folders that are created. */
export function openFileObjectStore(root: string, folderMode?: number): ObjectStore {
  const pathOf = (name: string): string => {
    assertObjectName(name);
    return join(root, name);
  };

  /** Writes a temporary file. `publish` must rename it to the name of the object, or resolve with false. */
  async function write(
    name: string,
    body: Uint8Array | Readable,
    publish: (temporary: string, path: string) => Promise<boolean>,
  ): Promise<boolean> {
    const path = pathOf(name);
    const folder = dirname(path);
    const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
    await createFolder(folder, folderMode);
    let published: boolean;
    try {
      // `flush` syncs the content to the disk before the rename. So after a power loss, the object is complete or does not exist.
      await pipeline(
        body instanceof Readable ? body : [body],
        createWriteStream(temporary, { flags: 'wx', flush: true }),
      );
      published = await publish(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    if (published) await syncFolders(root, folder);
    return published;
  }

  async function replace(temporary: string, path: string): Promise<boolean> {
    await rename(temporary, path);
    return true;
  }

  async function unlessExists(temporary: string, path: string): Promise<boolean> {
    try {
      await link(temporary, path);
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (!NO_HARD_LINKS.includes(code)) throw error;
      return (await unlessMissing(stat(path))) === undefined && replace(temporary, path);
    }
  }

  /**
   * Resolves with the version of a file: its inode number and the time of its last change. New content is always a new file, so it has another
   * version.
   */
  async function version(path: string): Promise<string | undefined> {
    const found = await unlessMissing(stat(path, { bigint: true }));
    return found?.isFile() ? `${found.ino}-${found.mtimeNs}` : undefined;
  }

  /** Replaces the file if it has the expected version. If the file system has locks, only one process at a time does this in the folder. */
  async function ifVersion(expected: string, temporary: string, path: string): Promise<boolean> {
    const lock = await lockFolder(dirname(path));
    try {
      return (await version(path)) === expected && (await replace(temporary, path));
    } finally {
      lock?.close();
    }
  }

  async function get(name: string): Promise<Readable | undefined> {
    const path = pathOf(name);
    const found = await unlessMissing(stat(path));
    if (found?.isFile() !== true) return undefined;
    return objectContent(createReadStream(path), (error) => translate(`read ${name} in ${root} to its end`, error));
  }

  async function remove(name: string): Promise<void> {
    await unlessMissing(rm(pathOf(name)));
  }

  async function* list(prefix: string): AsyncIterable<StoredObject> {
    try {
      yield* walk('', prefix);
    } catch (error) {
      throw translate(`list ${prefix} in ${root}`, error);
    }
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

  async function removeLeftovers(folder: string, before: number): Promise<void> {
    for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
      const path = join(folder, entry.name);
      // A folder whose name starts with a dot contains no objects (see `walk`). It can belong to the file system, for example for snapshots.
      if (entry.isDirectory() && entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) await removeLeftovers(path, before);
      else if (entry.name.startsWith(TEMPORARY)) {
        const found = await unlessMissing(stat(path));
        if (found !== undefined && found.mtimeMs < before) await rm(path, { force: true });
      }
    }
  }

  return {
    put: async (name, body) => void (await translated(`store ${name} in ${root}`, write(name, body, replace))),
    create: (name, body) => translated(`store ${name} in ${root}`, write(name, body, unlessExists)),
    version: (name) => translated(`read ${name} in ${root}`, version(pathOf(name))),
    replace: (name, expected, body) =>
      translated(
        `replace ${name} in ${root}`,
        write(name, body, (temporary, path) => ifVersion(expected, temporary, path)),
      ),
    get: (name) => translated(`read ${name} in ${root}`, get(name)),
    list,
    delete: (name) => translated(`delete ${name} in ${root}`, remove(name)),
    removeLeftovers: (before) => translated(`remove leftovers in ${root}`, removeLeftovers(root, before)),
    close: () => undefined,
  };
}

/** Orders the entries of a directory as S3 orders names: a folder `a` is compared as `a/`. */
function byObjectName(a: Dirent, b: Dirent): number {
  const key = (entry: Dirent): Buffer => Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name);
  return Buffer.compare(key(a), key(b));
}

/** Syncs `folder` and all folders above it up to the parent of `root`. Otherwise a power loss could remove new files and folders from them. */
async function syncFolders(root: string, folder: string): Promise<void> {
  for (let at = folder; at.length >= dirname(root).length; at = dirname(at)) {
    await syncFolder(at);
    if (at === dirname(at)) return;
  }
}

/** Resolves with undefined if the file system has no locks. */
async function lockFolder(folder: string): Promise<FileLock | undefined> {
  try {
    const lock = await lockFile(join(folder, '.lock'), LOCK_WITHIN_MS);
    if (lock !== undefined) return lock;
  } catch (error) {
    if (NO_LOCKS.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  throw new DependencyError(
    'object_store_unavailable',
    `${folder} is locked by another process: wait until it continues or ends`,
  );
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Error codes after which an operator must change something. After all other error codes, a retry can succeed without a change. */
const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'EISDIR'];

function translate(what: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || error instanceof DependencyError) return error;
  const isRefused = REFUSALS.includes(code);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const advice = isRefused ? ': check the folder and its permissions' : '';
  return new DependencyError(
    isRefused ? 'object_store_refused' : 'object_store_unavailable',
    `cannot ${what}: ${message}${isFull ? ': free disk space' : advice}`,
    { cause: error, isFull },
  );
}

async function translated<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw translate(what, error);
  }
}
