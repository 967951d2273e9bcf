import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MARK = 'last-boot';
const CLEAN = 'closed and flushed';
/** Written before opening. Some damaged files make LMDB kill the process; then this text remains. */
const OPENING = 'being opened';

/**
 * An environment without fsync is consistent after `kill -9`. After a power loss it may be damaged without a visible sign. So a marker
 * file names the boot of the machine that wrote it. An environment that another boot wrote and did not close is not trusted.
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

/** Changes with each boot of the machine. On systems without a boot ID it changes with each call: then only `CLEAN` is trusted. */
function bootId(): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (process.platform === 'darwin')
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  return `unknown ${process.hrtime.bigint()}`;
}

/** Overwrites the file in place, which also works on a full disk. */
function writeDurably(path: string, text: string): void {
  const file = openSync(path, existsSync(path) ? 'r+' : 'w');
  writeSync(file, text, 0);
  ftruncateSync(file, text.length);
  fsyncSync(file);
  closeSync(file);
}
