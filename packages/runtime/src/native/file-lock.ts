import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_EVERY_MS = 50;
/** The error on Windows if another process holds the lock. */
const HELD_ON_WINDOWS = 'EBUSY';

export interface FileLock {
  close(): void;
}

/**
 * Takes the kernel's lock on a file, which is created if it does not exist. The lock excludes all processes that can open the same file,
 * also in other containers. The kernel releases it when the process ends, also after `kill -9`. The file itself remains, and does not say
 * whether it is locked. Waits up to `waitMs` for another holder, then resolves with undefined. Rejects if the file cannot be opened or its
 * file system has no locks.
 */
export async function lockFile(path: string, waitMs: number): Promise<FileLock | undefined> {
  const deadline = performance.now() + waitMs;
  // Uses a plain file descriptor: the garbage collector closes an unreferenced FileHandle, which would release the lock.
  const file = openSync(path, 'a', 0o666);
  try {
    while (!(await isTaken(file))) {
      if (performance.now() > deadline) {
        closeSync(file);
        return undefined;
      }
      await pause(RETRY_EVERY_MS);
    }
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return { close: () => closeSync(file) };
}

async function isTaken(file: number): Promise<boolean> {
  // A native module, loaded only when a lock is needed.
  const { tryLock } = await import('fs-native-extensions');
  try {
    return tryLock(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === HELD_ON_WINDOWS) return false;
    throw error;
  }
}
