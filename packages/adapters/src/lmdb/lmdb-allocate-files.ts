import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Free disk space that a new environment needs. LMDB creates its tables before lmdb-file-space.ts can allocate space for them. */
const NEW_ENVIRONMENT_BYTES = 8 * 1024 * 1024;
/** The size that this module gives the lock file. LMDB's table of readers needs less, and LMDB does not shrink a larger file. */
const LOCK_FILE_BYTES = 16 * 1024;
const BLOCK_BYTES = 4096;
const CHUNK_BYTES = 1024 * 1024;
const ZERO_BLOCK = Buffer.alloc(BLOCK_BYTES);
/** The name of an empty file. If this file exists, `data.mdb` has no holes. */
const SEARCHED = 'allocated';

/**
 * Call it before the environment is opened. When it resolves, the environment's files have no holes: LMDB can write to every byte
 * of these files even if the disk is full. Rejects with the system's error (ENOSPC) if the disk has too little space to fill the holes.
 */
export async function allocateFiles(folder: string): Promise<void> {
  allocateLockFile(join(folder, 'lock.mdb'));
  const data = join(folder, 'data.mdb');
  const isNew = !existsSync(data) || statSync(data).size === 0;
  if (isNew) await assertFree(folder);
  const searched = join(folder, SEARCHED);
  if (existsSync(searched)) return;
  if (!isNew) await fillHoles(data);
  await writeFile(searched, '');
}

/** Call it when `data.mdb` was replaced. The next `allocateFiles` then searches the new file for holes. */
export function forgetAllocation(folder: string): void {
  rmSync(join(folder, SEARCHED), { force: true });
}

async function assertFree(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < NEW_ENVIRONMENT_BYTES) {
    throw new Error(`ENOSPC: no space left on device: ${folder} needs ${NEW_ENVIRONMENT_BYTES} free bytes to start`);
  }
}

/** Fills the lock file with zeros. LMDB maps this file into memory: if the disk is full, a write to a hole in it kills the process (SIGBUS). */
function allocateLockFile(path: string): void {
  const present = existsSync(path) ? statSync(path) : undefined;
  if (present !== undefined && present.size >= LOCK_FILE_BYTES && present.blocks * 512 >= present.size) return;
  const bytes = Buffer.alloc(Math.max(LOCK_FILE_BYTES, present?.size ?? 0));
  if (present !== undefined) readFileSync(path).copy(bytes);
  // writeFileSync throws if the disk has space for only a part of the bytes. writeSync would write this part without an error.
  writeFileSync(path, bytes, { flag: present === undefined ? 'w' : 'r+', mode: 0o664, flush: true });
}

/**
 * Writes zeros to the holes of the file. LMDB does not write a page that one transaction allocates and frees. Earlier versions of Weir did not
 * fill the file with zeros before LMDB used it, so their files have a hole at each such page.
 */
async function fillHoles(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; ; at += CHUNK_BYTES) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
      await writeZeroBlocks(file, chunk.subarray(0, bytesRead), at);
      if (bytesRead < CHUNK_BYTES) break;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function writeZeroBlocks(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let from = 0; from + BLOCK_BYTES <= chunk.length; from += BLOCK_BYTES) {
    if (!ZERO_BLOCK.equals(chunk.subarray(from, from + BLOCK_BYTES))) continue;
    for (let done = 0; done < BLOCK_BYTES; )
      done += (await file.write(ZERO_BLOCK, done, BLOCK_BYTES - done, at + from + done)).bytesWritten;
  }
}
