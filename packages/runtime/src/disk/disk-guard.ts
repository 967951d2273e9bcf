import { statfs } from 'node:fs/promises';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../prometheus-metrics.ts';
import { createDiskMetrics } from './disk-metrics.ts';
import { openReserveFile } from './disk-reserve-file.ts';

export interface DiskGuard extends DiskSpace {
  readonly name: string;
  /** Reads the size and the free space of the disk. */
  space(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  /** The reserve that is in force: at most a quarter of the disk. */
  readonly reserveBytes: number;
  /** During a shortage, deletes the reserve file. Call it before a program is started that needs some free space to start, such as ClickHouse. */
  release(): void;
  close(): Promise<void>;
}

export interface DiskGuardOptions {
  /** Name of the disk in metrics and log lines. */
  readonly name: string;
  readonly folder: string;
  /** The free space that Weir must leave. If this is more than a quarter of the disk, the reserve is a quarter of the disk. */
  readonly reserveBytes: number;
  /** The path of a file that fills a part of the reserve. `release` deletes the file, so that the next writes find free space. */
  readonly reserveFile?: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const CHECK_EVERY_MS = 250;
const RESERVE_FILE_BYTES_MAX = 16 * 1024 * 1024;
/** Writing resumes when the free space exceeds the reserve by this factor. */
const RESUME_FACTOR = 1.1;
/** The reserve is at most this part of the disk. Otherwise Weir would never store an event on a disk that is smaller than the reserve. */
const RESERVE_PART_MAX = 1 / 4;
/** A file system with fewer free inodes counts as full. */
const INODES_MIN = 200;

/** Free bytes on the disk of this folder; 0 if the file system has too few free inodes. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return files > 0 && ffree < INODES_MIN ? 0 : bavail * bsize;
}

/**
 * Compares the free space with the reserve four times a second. When less than the reserve is free, `shortage` returns a message
 * until the free space exceeds the reserve by RESUME_FACTOR. Resolves after the first check. Another program can fill the disk between two
 * checks, so writers that must not fail on a full disk also allocate their space before they write (docs/decisions/0019).
 */
export async function openDiskGuard(options: DiskGuardOptions): Promise<DiskGuard> {
  const { name, folder, logger } = options;
  const { blocks, bsize } = await statfs(folder);
  const reserveBytes = Math.min(options.reserveBytes, Math.floor(blocks * bsize * RESERVE_PART_MAX));
  const metrics = createDiskMetrics(options.metrics);
  const fileBytes = Math.min(RESERVE_FILE_BYTES_MAX, Math.floor(reserveBytes / 8));
  const file = options.reserveFile === undefined ? undefined : openReserveFile(options.reserveFile, fileBytes);
  const reserveMb = Math.round(reserveBytes / 1024 / 1024);
  const message = `the disk of ${folder} is nearly full: less than the reserve of ${reserveMb} MB (WEIR_DISK_RESERVE_MB) or fewer than ${INODES_MIN} inodes are free. Delete some files; a running Weir then resumes writing automatically`;
  let shortage: string | undefined;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  async function check(): Promise<void> {
    const free = await freeBytes(folder);
    const wasShort = shortage !== undefined;
    const isShort = free < (wasShort ? reserveBytes * RESUME_FACTOR : reserveBytes);
    shortage = isShort ? message : undefined;
    metrics.set(name, { free, reserve: reserveBytes, isFull: isShort });
    if (isShort && !wasShort) logger.error({ disk: name, folder, freeBytes: free }, message);
    if (!isShort && wasShort) logger.info({ disk: name, freeBytes: free }, 'the disk has free space again');
    if (free > reserveBytes * RESUME_FACTOR + fileBytes) await file?.acquire();
  }

  async function round(): Promise<void> {
    try {
      await check();
      failing = false;
    } catch (error) {
      if (!failing) logger.error({ disk: name, folder, err: error }, 'cannot check the free space of the disk');
      failing = true;
    }
    if (!closed) timer = setTimeout(() => void next(), CHECK_EVERY_MS).unref();
  }
  let running = round();
  const next = (): Promise<void> => {
    running = round();
    return running;
  };
  await running;

  return {
    name,
    reserveBytes,
    space: async () => ({ freeBytes: await freeBytes(folder), totalBytes: blocks * bsize }),
    shortage: () => shortage,
    room: async () => (await freeBytes(folder)) - reserveBytes,
    release() {
      if (shortage !== undefined) file?.release();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
