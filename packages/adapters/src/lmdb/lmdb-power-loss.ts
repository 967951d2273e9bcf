import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MARK = 'last-boot';
const CLEAN = 'closed and flushed';
/** The content of the marker file while LMDB opens the environment. If a damaged file makes LMDB kill the process, this content remains. */
const OPENING = 'being opened';

/**
 * True if the environment can be opened. LMDB writes the environment without fsync: it is consistent after `kill -9`, but a power loss can
 * damage it without a visible sign. So a process that opens the environment writes the ID of the machine's present boot to a marker file. False
 * in three cases: a process of an earlier boot did not close the environment, the last attempt to open it did not end, or there is data without
 * a marker file.
 */
export function isTrusted(folder: string): boolean {
  const path = join(folder, MARK);
  if (!existsSync(path)) return !existsSync(join(folder, 'data.mdb'));
  const mark = readFileSync(path, 'utf8');
  return mark === CLEAN || mark === bootId();
}

export function markOpening(folder: string): void {
  writeDurably(join(folder, MARK), OPENING);
}

export function markOpened(folder: string): void {
  writeDurably(join(folder, MARK), bootId());
}

/** Call it after the environment was closed. */
export function markClosed(folder: string): void {
  const data = openSync(join(folder, 'data.mdb'), 'r+');
  fsyncSync(data);
  closeSync(data);
  writeDurably(join(folder, MARK), CLEAN);
}

export function wipe(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Returns an ID that changes with each boot of the machine. On systems other than Linux and macOS, each call returns a new ID. There the
 * files are trusted only after `markClosed`.
 */
function bootId(): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (process.platform === 'darwin')
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  return `unknown ${process.hrtime.bigint()}`;
}

/** Overwrites the file in place, which also works on a full disk. */
function writeDurably(path: string, text: string): void {
  const file = openSync(path, existsSync(path) ? 'r+' : 'w');
  try {
    writeFileSync(file, text);
    ftruncateSync(file, text.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
