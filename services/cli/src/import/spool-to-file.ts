import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError, EXIT } from '../exit-codes.ts';
import type { LogFile } from './open-log-file.ts';

const CIPHER = 'aes-256-ctr';
const KEY_BYTES = 32;
const IV_BYTES = 16;

/**
 * A temporary copy of a pipe. It is needed because the import reads a log twice: for the digest and for the lines. Access logs
 * contain IP addresses, so the copy is encrypted with a key that only this process has.
 */
export interface SpooledFile extends LogFile {
  remove(): Promise<void>;
}

/** Copies a pipe to a temporary file. Removes the file and rejects if the pipe fails or `interrupted` aborts. */
export async function spoolToFile(input: Readable, interrupted: AbortSignal): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'log');
  const key = randomBytes(KEY_BYTES);
  const iv = randomBytes(IV_BYTES);
  try {
    const file = createWriteStream(path, { mode: 0o600 });
    await pipeline(input, createCipheriv(CIPHER, key, iv), file, { signal: interrupted });
    // Ctrl-C also ends the program that writes to the pipe, so the copy can be incomplete.
    interrupted.throwIfAborted();
  } catch (error) {
    await remove();
    throw interrupted.aborted ? new CliError('interrupted before anything was imported', EXIT.interrupted) : error;
  }
  return { path, decrypt: () => createDecipheriv(CIPHER, key, iv), remove };
}
