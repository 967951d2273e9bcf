import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { type FileLock, lockFile } from './file-lock.ts';

const WAIT_FOR_OTHER_MS = 5_000;

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Creates the data folder (mode 700) and locks it for this process group, with a kernel lock on the file `lock` in it.
 * Resolves when it has the lock. Waits up to 5 s for another process group, then rejects with `data_folder_in_use`. Rejects with
 * `data_folder_unusable` if the folder cannot be written or its file system has no locks.
 */
export async function lockDataFolder(path: string): Promise<DataFolder> {
  let lock: FileLock | undefined;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    lock = await lockFile(join(path, 'lock'), WAIT_FOR_OTHER_MS);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DependencyError('data_folder_unusable', `cannot lock ${path}: ${reason}`, { cause: error });
  }
  if (lock === undefined) {
    throw new DependencyError(
      'data_folder_in_use',
      `${path} is in use by another Weir; stop that one or set WEIR_DATA_DIR`,
    );
  }
  const held = lock;
  return { path, close: async () => held.close() };
}
