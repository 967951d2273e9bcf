import { rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/** A file that reserves space, filled with zeros. Deleting the file frees this space when the disk is full. */
export interface ReserveFile {
  acquire(): Promise<void>;
  release(): void;
}

const ZEROS = Buffer.alloc(1024 * 1024);

export function openReserveFile(path: string, bytes: number): ReserveFile {
  let held = false;

  async function sizeNow(): Promise<number> {
    try {
      return (await stat(path)).size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  }

  return {
    async acquire() {
      if (held) return;
      if ((await sizeNow()) < bytes) {
        const file = await open(path, 'w', 0o600);
        try {
          for (let left = bytes; left > 0; )
            left -= (await file.write(ZEROS, 0, Math.min(left, ZEROS.length))).bytesWritten;
          await file.datasync();
        } finally {
          await file.close();
        }
      }
      held = true;
    },
    release() {
      held = false;
      rmSync(path, { force: true });
    },
  };
}
