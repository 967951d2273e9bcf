import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and the missing folders above it. Resolves if the folder exists. Rejects with an error of the operating system if it cannot be
 * created. `mkdir` of Node with `recursive` never ends in a file system like /proc, which answers ENOENT although the parent folder exists.
 */
export async function createFolder(path: string, mode?: number): Promise<void> {
  if ((await tryCreate(path, mode)) === 'created') return;
  await createFolder(dirname(path), mode);
  if ((await tryCreate(path, mode)) === 'created') return;
  const message = `cannot create the folder ${path}: the file system of ${dirname(path)} allows no new folders`;
  throw Object.assign(new Error(message), { code: 'ENOENT', syscall: 'mkdir' });
}

async function tryCreate(path: string, mode: number | undefined): Promise<'created' | 'no parent'> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isFolder) return 'created';
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) return 'no parent';
    throw error;
  }
  return 'created';
}
