import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
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
 * Copies a pipe to a temporary file. `close` also removes the file. The copy is needed because the import reads a log twice: for the digest and for
 * the lines. Access logs contain IP addresses, so the copy is encrypted with a key that only this process has. If the pipe fails or is empty, the
 * copy cannot be written or `interrupted` aborts, removes the file and rejects with `CliError`.
 */
export async function spoolToFile(input: Readable, interrupted: AbortSignal): Promise<LogFile> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-import-')).catch((error: Error) => {
    throw notCopied(error);
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'log');
  const key = randomBytes(KEY_BYTES);
  const iv = randomBytes(IV_BYTES);
  try {
    const file = createWriteStream(path, { mode: 0o600 });
    await pipeline(input, createCipheriv(CIPHER, key, iv), file, { signal: interrupted });
    // Ctrl-C also ends the program that writes to the pipe, so the copy can be incomplete.
    interrupted.throwIfAborted();
    if (file.bytesWritten === 0) {
      throw new CliError('standard input is empty, nothing was imported: check the program that writes to the pipe');
    }
    const handle = await open(path);
    const close = () => handle.close().finally(remove);
    return { path, handle, decrypt: () => createDecipheriv(CIPHER, key, iv), close };
  } catch (error) {
    await remove();
    if (interrupted.aborted) throw new CliError('interrupted before anything was imported', EXIT.interrupted);
    throw error instanceof CliError ? error : notCopied(error as Error);
  }
}

function notCopied({ message }: Error): CliError {
  return new CliError(
    `can't copy standard input to a temporary file in ${tmpdir()}: ${message}; if this folder is full or cannot be written, set TMPDIR to another folder`,
  );
}
