import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { RootDatabase } from 'lmdb';

/** Upper bound of the data that a job of the write queue (lmdb-write-queue.ts) writes. */
export interface WriteSize {
  /** Keys that are put or removed. */
  readonly keys: number;
  /** Bytes of the keys and values that are put. */
  readonly bytes: number;
}

/**
 * Allocated space in an environment's file. lmdb 3.5.6 corrupts the heap if the disk is full during a write: it formats an error
 * message into a buffer that is too short. So a transaction starts only if the file already has disk blocks for all writes of the
 * transaction. `FileSpace` allocates these blocks.
 */
export interface FileSpace {
  /** Reads how much of the file is used. This takes at least 6 µs, so call it only once per transaction. */
  read(): SpaceReading;
  /** Allocates space until at least `bytes` are free, then resolves with `undefined`. If that fails, resolves with the reason. */
  grow(bytes: number): Promise<string | undefined>;
  /** Starts to allocate space in the background if little free space is left in the file. */
  topUp(reading: SpaceReading): void;
  close(): Promise<void>;
}

/** How much of the file LMDB uses. Only valid until the next transaction begins. */
export interface SpaceReading {
  /** Allocated bytes after the last page that LMDB uses. Also counts bytes that were allocated after `read`. */
  free(): number;
  /** Upper bound of the bytes that one transaction adds to the file. */
  boundOf(size: WriteSize): number;
}

interface Stats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly free: { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number; entryCount: number };
}

const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(MIB);
const STEP_MIN = 2 * MIB;
const STEP_MAX = 32 * MIB;
/** The number of pages that every transaction can write in addition to those of its keys: the roots of all tables, and the free list. */
const PAGES_FIXED = 128;
/** A key changes its leaf page and the branch page above it, and can split one of them. */
const PAGES_PER_KEY = 3;

/** True if the file ends before the last page that LMDB uses. Reading a page after the end of the file kills the process (SIGBUS). */
export function isCutShort(path: string, env: RootDatabase): boolean {
  const { lastPageNumber, pageSize } = env.getStats() as Stats;
  return statSync(path).size < (lastPageNumber + 1) * pageSize;
}

/** True if the environment has no list of free pages that it can use again. */
export function isFreeListEmpty(env: RootDatabase): boolean {
  return (env.getStats() as Stats).free.entryCount === 0;
}

export async function openFileSpace(path: string, env: RootDatabase, disk: DiskSpace | undefined): Promise<FileSpace> {
  // Append mode ('a') writes only after the end of the file. So the zero bytes cannot overwrite a page that LMDB writes at the same time.
  const file = await open(path, 'a');
  let end = (await file.stat()).size;
  let growing: Promise<string | undefined> | undefined;

  function read(): SpaceReading {
    const { lastPageNumber, pageSize, free } = env.getStats() as Stats;
    const pagesUsed = lastPageNumber + 1;
    const freeListPages = 2 * (free.treeBranchPageCount + free.treeLeafPageCount + free.overflowPages);
    return {
      free: () => end - pagesUsed * pageSize,
      boundOf({ keys, bytes }) {
        const treePages = 2 * pagesUsed + (2 * bytes) / pageSize;
        const pages = Math.min(PAGES_PER_KEY * keys, treePages) + freeListPages + PAGES_FIXED;
        return bytes + Math.ceil(pages) * pageSize;
      },
    };
  }

  const step = (): number => Math.min(STEP_MAX, Math.max(STEP_MIN, Math.floor(end / 4)));

  async function append(bytes: number): Promise<string | undefined> {
    const shortage = disk?.shortage();
    if (shortage !== undefined) return shortage;
    try {
      await appendZeros(file, bytes);
      end = (await file.stat()).size;
      return undefined;
    } catch (error) {
      return `${path} cannot grow: ${(error as Error).message}`;
    }
  }

  function appendOnce(bytes: number): Promise<string | undefined> {
    growing ??= append(bytes).finally(() => {
      growing = undefined;
    });
    return growing;
  }

  return {
    read,
    async grow(bytes) {
      for (;;) {
        const free = read().free();
        if (free >= bytes) return undefined;
        const refused = await appendOnce(Math.max(step(), bytes - free));
        if (refused !== undefined) return read().free() < bytes ? refused : undefined;
      }
    },
    topUp(reading) {
      if (growing === undefined && reading.free() < step() / 2) void appendOnce(step());
    },
    async close() {
      await growing;
      await file.close();
    },
  };
}

async function appendZeros(file: FileHandle, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; ) {
    const { bytesWritten } = await file.write(ZEROS, 0, Math.min(left, ZEROS.length));
    left -= bytesWritten;
  }
  // Some file systems allocate disk blocks only when data is synced. Without this sync, a full disk could first be noticed in a write of LMDB.
  await file.datasync();
}
