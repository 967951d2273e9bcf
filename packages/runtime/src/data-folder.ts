import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';

const WAIT_FOR_OTHER_MS = 5_000;
const RETRY_EVERY_MS = 50;
/** What Windows says instead of "try again". */
const HELD_ON_WINDOWS = 'EBUSY';

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Makes the data folder (mode 700) and takes it for this process group, by a lock of the kernel on the file `lock` in it.
 * It holds for every process that reaches the same file, in other containers too, and the kernel lets it go with the
 * process, so a kill -9 leaves nothing stale behind; the file itself stays and says nothing.
 * Waits up to 5 s for another group to let go, then rejects with `data_folder_in_use`; rejects with `data_folder_unusable`
 * where the folder can't be written or its file system has no locks.
 */
export async function takeDataFolder(path: string): Promise<DataFolder> {
  const deadline = Date.now() + WAIT_FOR_OTHER_MS;
  // A bare file descriptor: a FileHandle nobody refers to is closed some time, and the lock with it.
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
    // Native, and of no use to a Weir without a data folder.
    const { tryLock } = await import('fs-native-extensions');
    return tryLock(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === HELD_ON_WINDOWS) return false;
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): DependencyError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DependencyError('data_folder_unusable', `can't take ${path}: ${reason}`, { cause });
}
