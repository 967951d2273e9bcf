import { mkdir, open, readdir, rename, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { DependencyError, messageOf } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';
import { RESTORE_PART } from '@weir/runtime/data-folder';
import { createFolder } from '@weir/runtime/disk/create-folder';
import { isDiskFull } from '@weir/runtime/disk/is-disk-full';
import { syncFolder } from '@weir/runtime/disk/sync-folder';
import { readChunks } from './chunk-repository.ts';
import { listSnapshots, readSnapshot, type Snapshot, type SnapshotItem } from './snapshot.ts';

export interface ReadBackupOptions {
  readonly objects: ObjectStore;
  /** The ID of the backup; undefined for the newest backup. */
  readonly id: string | undefined;
  onProgress(bytesDone: number, bytesTotal: number): void;
}

/** Reads a whole backup and checks the checksum of each chunk. Throws `object_store_damaged` if there is no backup, or if it is damaged. */
export async function verifyBackup(options: ReadBackupOptions): Promise<Snapshot> {
  const snapshot = await findSnapshot(options);
  await readItems(options, snapshot, async () => async () => undefined);
  return snapshot;
}

/**
 * Writes a backup into an empty folder. All files are first written into the folder `restore.part` in it. Then `finish` must delete the writer's
 * commits in `restore.part`, because they are newer than the tables. Then all files are moved out of `restore.part`. Weir does not start on a folder
 * with `restore.part` (data-folder.ts), so it never uses an incomplete restore. Throws `data_folder_unusable` if the folder is not empty, or its disk
 * is full. Throws `object_store_damaged` if the backup is damaged; if there is no backup, before anything is written.
 */
export async function restoreBackup<T>(options: RestoreOptions<T>): Promise<Restored<T>> {
  try {
    return await restore(options);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new DependencyError(
      'data_folder_unusable',
      `${messageOf(error)}: the disk of ${options.into} is full. The backup is unchanged: free some space, delete the content of this folder, and run the command again`,
      { cause: error },
    );
  }
}

interface RestoreOptions<T> extends ReadBackupOptions {
  readonly into: string;
  readonly finish: (folder: string, snapshot: Snapshot) => Promise<T>;
}

interface Restored<T> {
  readonly snapshot: Snapshot;
  readonly finished: T;
}

async function restore<T>(options: RestoreOptions<T>): Promise<Restored<T>> {
  const { into } = options;
  const snapshot = await findSnapshot(options);
  // Only the owner can enter a data folder (data-folder.ts), because its files contain data of visitors.
  await createFolder(into, 0o700);
  const names = await readdir(into);
  if (names.length > 0) {
    throw new DependencyError(
      'data_folder_unusable',
      names.includes(RESTORE_PART)
        ? `a restore into ${into} was interrupted or still runs. If none runs, delete the content of this folder, and run the command again`
        : `${into} is not empty: restore a backup into an empty folder`,
    );
  }
  const part = join(into, RESTORE_PART);
  await mkdir(part);
  await syncFolder(into);
  await readItems(options, snapshot, async (path) => {
    const target = safePath(part, path);
    await mkdir(dirname(target), { recursive: true });
    const file = await open(target, 'wx', 0o600);
    return async (bytes) => {
      if (bytes !== undefined) return void (await file.writeFile(bytes));
      await file.sync();
      await file.close();
    };
  });
  const finished = await options.finish(part, snapshot);
  for (const entry of await readdir(part, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name));
  }
  for (const name of await readdir(part)) await rename(join(part, name), join(into, name));
  await syncFolder(into);
  await rmdir(part);
  await syncFolder(into);
  return { snapshot, finished };
}

/** Receives the bytes of a file, and undefined at its end. */
type FileSink = (bytes: Uint8Array | undefined) => Promise<void>;

async function findSnapshot({ objects, id }: ReadBackupOptions): Promise<Snapshot> {
  const found = id ?? (await listSnapshots(objects)).at(-1);
  if (found === undefined) throw new DependencyError('object_store_damaged', 'there is no backup here');
  return readSnapshot(objects, found);
}

async function readItems(
  { objects, onProgress }: ReadBackupOptions,
  snapshot: Snapshot,
  openFile: (path: string) => Promise<FileSink>,
): Promise<void> {
  const bytesOf = ({ files }: SnapshotItem): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytesTotal = snapshot.items.reduce((sum, item) => sum + bytesOf(item), 0);
  let bytesDone = 0;
  for (const item of snapshot.items) {
    await readItem(item, readChunks(objects, item.chunks), openFile);
    bytesDone += bytesOf(item);
    onProgress(bytesDone, bytesTotal);
  }
}

async function readItem(
  { folder, files }: SnapshotItem,
  chunks: AsyncIterable<Buffer>,
  openFile: (path: string) => Promise<FileSink>,
): Promise<void> {
  const nextBytes = readerOf(chunks);
  for (const { name, bytes } of files) {
    const path = join(folder, name);
    const sink = await openFile(path);
    try {
      for (let missing = bytes; missing > 0; ) {
        const taken = await nextBytes(missing);
        if (taken.length === 0) throw new DependencyError('object_store_damaged', `the backup of ${path} is too short`);
        await sink(taken);
        missing -= taken.length;
      }
    } finally {
      await sink(undefined);
    }
  }
  if ((await nextBytes(1)).length > 0) {
    throw new DependencyError('object_store_damaged', `the backup of ${folder} is too long`);
  }
}

/** Returns a function that resolves with the next bytes of the chunks: at most `bytesMax`, and none only at the end. */
function readerOf(chunks: AsyncIterable<Buffer>): (bytesMax: number) => Promise<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  return async (bytesMax) => {
    while (rest.length === 0) {
      const next = await source.next();
      if (next.done) return rest;
      rest = next.value;
    }
    const taken = rest.subarray(0, bytesMax);
    rest = rest.subarray(taken.length);
    return taken;
  };
}

/** The path of a file within `into`. Throws for a path that leads out of this folder, which a damaged snapshot can contain. */
function safePath(into: string, path: string): string {
  const target = join(into, path);
  if (target.startsWith(into.endsWith(sep) ? into : into + sep)) return target;
  throw new DependencyError('object_store_damaged', `the backup names a path outside of its folder: ${path}`);
}
