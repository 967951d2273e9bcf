import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type FileSystem = 'ext4' | 'tmpfs';

/** A separate file system, so small that a test can fill it. */
export interface SmallDisk {
  /** A folder on this disk, for use as the data folder. */
  readonly folder: string;
  free(): number;
  /** Fills the free space in small pieces, down to the last byte. The last pieces are so slow that Weir checks the free space between them. */
  fill(): void;
  /** Fills the free space with one system call, so that Weir has no time to react. */
  takeAtOnce(): void;
  /** Frees the space that `fill` or `takeAtOnce` has filled. */
  release(): void;
  /** Only for ext4. Discards the data that the file system has not written to the disk, and mounts the disk again. No process may use the disk. */
  cutPower(): void;
  /** Only for ext4. Makes the file system read-only, as after an error of the disk. Only `mountAgain` makes it writable again. */
  abort(): void;
  /** Only for ext4. Mounts the disk again. No process may use the disk. */
  mountAgain(): void;
  unmount(): void;
}

const FILLER = 'filler';
/** If less space than this is free, `fill` pauses after each piece, because Weir checks the free space only four times per second. */
const SLOW_BELOW_BYTES = 128 * 1024 * 1024;
const SLOW_PIECE_BYTES = 4 * 1024 * 1024;
const SLOW_PAUSE_MS = 30;
const UNMOUNTS_MAX = 50;
const UNMOUNT_PAUSE_MS = 200;
const TAKES_MAX = 20;
const MISSED_BYTES = 256 * 1024;

/** Why this machine cannot mount a file system; `undefined` if it can. */
export function whyNoMount(): string | undefined {
  if (process.platform !== 'linux') return 'mounting a small file system needs Linux';
  if (process.getuid?.() !== 0) return 'mounting a small file system needs root';
  const folder = mkdtempSync(join(tmpdir(), 'weir-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
    execFileSync('umount', [folder], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `this machine can't mount: ${(error as Error).message.split('\n')[0]}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function mountSmallDisk(type: FileSystem, megabytes: number): SmallDisk {
  const base = mkdtempSync(join(tmpdir(), 'weir-disk-'));
  const root = join(base, 'mounted');
  const image = join(base, 'image');
  mkdirSync(root);
  if (type === 'tmpfs') execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', root]);
  else {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1024 * 1024);
    // No blocks are reserved for root (`-m 0`): the test runs as root and could use them.
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-F', image], { stdio: 'pipe' });
    mountImage();
  }
  const folder = join(root, 'data');
  const filler = join(root, FILLER);
  mkdirSync(folder);

  function mountImage(): void {
    execFileSync('mount', ['-o', 'loop', image, root], { stdio: 'pipe' });
  }
  const free = (): number => {
    const { bavail, bsize } = statfsSync(root);
    return bavail * bsize;
  };
  const allocate = (name: string, bytes: number): void => {
    if (bytes > 0) spawnSync('fallocate', ['-l', String(bytes), join(root, name)], { stdio: 'pipe' });
  };

  return {
    folder,
    free,
    fill() {
      const file = openSync(filler, 'w');
      const piece = Buffer.alloc(SLOW_PIECE_BYTES, 1);
      while (free() > SLOW_BELOW_BYTES) writeSync(file, piece);
      const pause = new Int32Array(new SharedArrayBuffer(4));
      while (free() > SLOW_PIECE_BYTES) {
        writeSync(file, piece);
        Atomics.wait(pause, 0, 0, SLOW_PAUSE_MS);
      }
      // Weir may free its reserve of disk space meanwhile. The sizes at the end of this list fill that space too.
      for (const bytes of [1 << 20, 1 << 16, 4096, 512, 1, 1 << 20, 4096, 1])
        writeUntilFull(file, Buffer.alloc(bytes, 1));
      closeSync(file);
    },
    takeAtOnce() {
      // Weir may write between `free` and the system call. The call then requests more space than is free. On tmpfs, it gets no space at all in this
      // case, so it is repeated with fewer bytes.
      let missed = 0;
      for (let nth = 0; nth < TAKES_MAX && free() > missed * MISSED_BYTES; nth++) {
        const before = free();
        allocate(`${FILLER}-${nth}`, before - missed * MISSED_BYTES);
        missed = free() < before / 2 ? 0 : missed + 1;
      }
    },
    release() {
      for (const name of readdirSync(root)) if (name.startsWith(FILLER)) rmSync(join(root, name));
    },
    cutPower() {
      // The image contains only the data that was written to the disk so far. `umount` would write the rest to it, so the test copies the image
      // first. Then the copy replaces the image.
      const kept = `${image}-kept`;
      execFileSync('cp', ['--sparse=always', image, kept]);
      unmountWhenFree(root);
      renameSync(kept, image);
      mountImage();
    },
    abort() {
      execFileSync('mount', ['-o', 'remount,abort', root], { stdio: 'pipe' });
    },
    mountAgain() {
      unmountWhenFree(root);
      mountImage();
    },
    unmount() {
      unmountWhenFree(root);
      rmSync(base, { recursive: true });
    },
  };
}

/** Tries again if the disk is still in use: a killed process uses the disk until the process has really ended. */
function unmountWhenFree(root: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let tried = 0; ; tried++) {
    try {
      execFileSync('umount', [root], { stdio: 'pipe' });
      return;
    } catch (error) {
      if (tried >= UNMOUNTS_MAX) throw error;
      Atomics.wait(pause, 0, 0, UNMOUNT_PAUSE_MS);
    }
  }
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    while (writeSync(file, bytes) === bytes.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
