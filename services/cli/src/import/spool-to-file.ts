import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
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
 * Copies a pipe to a temporary file. The copy is needed because the import reads a log twice: for the digest and for the lines. Access logs contain IP
 * addresses, so the copy is encrypted with a key that only this process has. The file has no name any more while it is used, so the operating system
 * removes it when `close` is called or the process ends. Rejects with `CliError` if the pipe fails or is empty, if the copy cannot be written, or if
 * `interrupted` aborts. `name`: what messages call the pipe.
 */
export async function spoolToFile(input: Readable, name: string, interrupted: AbortSignal): Promise<LogFile> {
  const { path, handle } = await openNameless().catch((error: Error) => {
    throw notCopied(name, error);
  });
  const key = randomBytes(KEY_BYTES);
  const iv = randomBytes(IV_BYTES);
  try {
    await pipeline(input, createCipheriv(CIPHER, key, iv), (bytes) => writeFile(handle, bytes), {
      signal: interrupted,
    });
    // Ctrl-C also ends the program that writes to the pipe, so the copy can be incomplete.
    interrupted.throwIfAborted();
    if ((await handle.stat()).size === 0) {
      throw new CliError(`${name} is empty, nothing was imported: check the program that writes to the pipe`);
    }
    return { path, handle, decrypt: () => createDecipheriv(CIPHER, key, iv), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    if (interrupted.aborted) throw new CliError('interrupted before anything was imported', EXIT.interrupted);
    throw error instanceof CliError ? error : notCopied(name, error as Error);
  }
}

/** Creates a file, opens it and removes its name. `path` is its former name. */
async function openNameless(): Promise<Pick<LogFile, 'path' | 'handle'>> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  try {
    const path = join(folder, 'log');
    return { path, handle: await open(path, 'wx+', 0o600) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function notCopied(name: string, { message }: Error): CliError {
  return new CliError(
    `can't copy ${name} to a temporary file in ${tmpdir()}: ${message}; if this folder is full or cannot be written, set TMPDIR to another folder`,
  );
}
