import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MARK = 'last-boot';
const CLEAN = 'closed and flushed';
/** LMDB ends the process on some damaged files: what stood at this word did so. */
const OPENING = 'being opened';

/**
 * An environment without fsync is whole after `kill -9`, but after a power loss it may be anything, and look well. So beside
 * it stands which boot of the machine wrote it: what another boot wrote and did not close is not to be trusted.
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

/** Call it when the environment has closed. */
export function markClosed(folder: string): void {
  const data = openSync(join(folder, 'data.mdb'), 'r+');
  fsyncSync(data);
  closeSync(data);
  writeDurably(join(folder, MARK), CLEAN);
}

export function wipe(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Another one after each start of the machine. Where it can't be told, another one each time: then only `CLEAN` is trusted. */
function bootId(): string {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (process.platform === 'darwin')
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
  return `unknown ${process.hrtime.bigint()}`;
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'w');
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}
