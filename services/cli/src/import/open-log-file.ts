import type { Decipher } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
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

const WAKE_EVERY_MS = 50;

/**
 * Opens a named pipe. The system lets a reader wait until a program opens the pipe and writes, and this wait cannot be cancelled. So after an
 * interruption, this process itself writes to the pipe, until the stream has noticed and is closed.
 */
export function readPipe(path: string, interrupted: AbortSignal): Readable {
  const pipe = createReadStream(path);
  const wake = async (): Promise<void> => {
    while (!pipe.closed) {
      await writeTo(path).catch(() => undefined);
      await pause(WAKE_EVERY_MS);
    }
  };
  const onAbort = () => void wake();
  if (interrupted.aborted) onAbort();
  else interrupted.addEventListener('abort', onAbort, { once: true });
  return pipe;
}

/** Writes a byte to a pipe. Rejects if no program reads the pipe, or if the pipe is full. */
async function writeTo(path: string): Promise<void> {
  const writer = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    // Another program can have replaced the pipe by a file.
    if ((await writer.stat()).isFIFO()) await writer.write('\n');
  } finally {
    await writer.close();
  }
}

function refuse(path: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new CliError(`no such file: ${path}`, EXIT.usage);
  throw new CliError(`can't read ${path}: ${error.message}`);
}
