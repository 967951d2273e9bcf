import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { forgetAllocation } from './lmdb-allocate-files.ts';
import { type FileSpace, isFreeListEmpty } from './lmdb-file-space.ts';
import { submitWrite, type WriteQueue } from './lmdb-write-queue.ts';

/** The name of an empty file. It exists while free pages of `data.mdb` can contain erased rows. */
const ERASED = 'erased';
const COPY = 'compacted';

/** Call it before rows are erased. A page that LMDB frees keeps its content until LMDB uses the page again. */
export function markErased(folder: string): void {
  writeFileSync(join(folder, ERASED), '');
}

/**
 * Call it before the environment is opened. If rows were erased since the last call, replaces `data.mdb` by a copy without free pages. If the
 * disk has too little free space for the copy, this call changes nothing, and the call at the next start tries again.
 */
export async function compactErased(folder: string): Promise<void> {
  const [data, copy] = [join(folder, 'data.mdb'), join(folder, COPY)];
  rmSync(copy, { recursive: true, force: true });
  if (!existsSync(join(folder, ERASED)) || !existsSync(data)) return;
  // Makes no copy if it could fill the disk: lmdb corrupts the heap if the disk is full during a write (lmdb-file-space.ts).
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < 2 * statSync(data).size) return;
  mkdirSync(copy);
  await withEnvironment(folder, (env) => env.backup(copy, true));
  await withEnvironment(copy, fillFreeList);
  renameSync(join(copy, 'data.mdb'), data);
  rmSync(copy, { recursive: true });
  forgetAllocation(folder);
  rmSync(join(folder, ERASED), { force: true });
}

async function withEnvironment<T>(path: string, work: (env: RootDatabase) => T | Promise<T>): Promise<T> {
  const env = open({ path, maxDbs: 8 });
  try {
    return await work(env);
  } finally {
    await env.close();
  }
}

/**
 * Call it before any other write. The list of free pages is empty only in a file that an earlier version has compacted. If the file has no space for
 * a small transaction, this call changes nothing, and the call at the next start tries again. Rejects with `state_store_unavailable`.
 */
export async function fillEmptyFreeList(env: RootDatabase, fileSpace: FileSpace, writes: WriteQueue): Promise<void> {
  if (!isFreeListEmpty(env)) return;
  const size = { keys: 1, bytes: 1024 };
  if ((await fileSpace.grow(fileSpace.read().boundOf(size))) !== undefined) return;
  await submitWrite(writes, 'state_store_unavailable', () => putTime(env), { size });
}

/**
 * lmdb 3.5.6 crashes if its list of free pages is empty, as in a compacted file, and a transaction frees more pages than one page can list (507).
 * This small transaction frees a page, so that the list is no longer empty.
 */
async function fillFreeList(env: RootDatabase): Promise<void> {
  await env.batch(() => putTime(env));
}

function putTime(env: RootDatabase): void {
  void env.openDB<number, string>({ name: 'compacted' }).put('at', Date.now());
}
