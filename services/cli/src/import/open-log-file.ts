import type { Decipher } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { CliError, EXIT } from '../exit-codes.ts';

/**
 * An open file. An import reads it several times, and always through `handle`: `path` can become the name of another file, because programs such as
 * logrotate rename logs.
 */
export interface LogFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** For an encrypted file: creates a decipher that starts at the first byte. */
  readonly decrypt?: () => Decipher;
  close(): Promise<void>;
}

/** Rejects with `CliError` if the file does not exist or cannot be opened. */
export async function openLogFile(path: string): Promise<LogFile> {
  const handle = await open(path).catch((error) => refuse(path, error));
  return { path, handle, close: () => handle.close() };
}

/**
 * A shell gives a command the path of a pipe for `<(zcat access.log.gz)`. A pipe can be read only once, and an import reads a file several times.
 * Rejects like `openLogFile`.
 */
export async function isPipe(path: string): Promise<boolean> {
  return (await stat(path).catch((error) => refuse(path, error))).isFIFO();
}

function refuse(path: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new CliError(`no such file: ${path}`, EXIT.usage);
  throw new CliError(`can't read ${path}: ${error.message}`);
}
