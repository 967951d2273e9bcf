import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { forgetAllocation } from './lmdb-allocate-files.ts';

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
  const env = open({ path: folder, maxDbs: 8 });
  try {
    await env.backup(copy, true);
  } finally {
    await env.close();
  }
  renameSync(join(copy, 'data.mdb'), data);
  rmSync(copy, { recursive: true });
  forgetAllocation(folder);
  rmSync(join(folder, ERASED));
}
