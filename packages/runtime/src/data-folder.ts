import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';

const WAIT_FOR_OTHER_MS = 5_000;
const RETRY_EVERY_MS = 50;
/** The error on Windows if another process holds the lock. */
const HELD_ON_WINDOWS = 'EBUSY';

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Creates the data folder (mode 700) and locks it for this process group, with a kernel lock on the file `lock` in it.
 * Resolves when it has the lock. The lock excludes all processes that can open the same file, also in other containers. The kernel
 * releases it when the process ends, also after `kill -9`. The file itself remains, and does not say whether the folder is locked.
 * Waits up to 5 s for another process group, then rejects with `data_folder_in_use`. Rejects with `data_folder_unusable` if the
 * folder cannot be written or its file system has no locks.
 */
export async function lockDataFolder(path: string): Promise<DataFolder> {
  const deadline = Date.now() + WAIT_FOR_OTHER_MS;
  // Uses a plain file descriptor: the garbage collector closes an unreferenced FileHandle, which would release the lock.
  const file = openLockFile(path);
  try {
    while (!(await isLocked(file, path))) {
      if (Date.now() > deadline) {
        throw new DependencyError(
          'data_folder_in_use',
          `${path} is in use by another Weir; stop that one or set WEIR_DATA_DIR`,
        );
      }
      await pause(RETRY_EVERY_MS);
    }
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return { path, close: async () => closeSync(file) };
}

function openLockFile(path: string): number {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return openSync(join(path, 'lock'), 'a', 0o600);
  } catch (error) {
    throw unusable(path, error);
  }
}

async function isLocked(file: number, path: string): Promise<boolean> {
  try {
    // A native module, loaded only if there is a data folder.
    const { tryLock } = await import('fs-native-extensions');
    return tryLock(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === HELD_ON_WINDOWS) return false;
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): DependencyError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DependencyError('data_folder_unusable', `cannot lock ${path}: ${reason}`, { cause });
}
