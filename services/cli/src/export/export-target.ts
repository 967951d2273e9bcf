import { open, rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { CliError, EXIT } from '../exit-codes.ts';

/** Where an export is written to. */
export interface ExportTarget {
  /** The streams that the bytes pass, the last one of which writes them. */
  readonly streams: readonly (Writable | NodeJS.ReadWriteStream)[];
  /** All bytes are written. */
  complete(): Promise<void>;
  /** The export failed. */
  discard(): Promise<void>;
}

/** A file has its name only when it is complete: until then it is `<path>.part`. A name in .gz is compressed. */
export async function openFileTarget(path: string): Promise<ExportTarget> {
  const part = `${path}.part`;
  // Renaming would replace a device, and fail at a folder only after the whole export.
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isFile() === false) throw new CliError(`${path} exists and is no regular file`, EXIT.usage);
  const file = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      error.code === 'EEXIST'
        ? `${part} exists: another export writes it, or was killed. If none runs, remove the file`
        : `can't write ${part}: ${error.message}`,
      EXIT.usage,
    );
  });
  // `flush` stores the file durably before it gets its name.
  const output = file.createWriteStream({ flush: true });
  return {
    streams: path.endsWith('.gz') ? [createGzip(), output] : [output],
    complete: () => rename(part, path),
    discard: () => rm(part, { force: true }),
  };
}
