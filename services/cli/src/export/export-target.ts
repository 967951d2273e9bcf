import { open, rename, rm, stat } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { hideCredentials } from '@weir/domain/net/hide-credentials';
import type { CliEnvironment } from '../cli-config.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { openObjects } from '../open-objects.ts';

/** The target of an export: a file, an object or standard output. */
export interface ExportTarget {
  /** The bytes pass through these streams in order. The last stream writes them. */
  readonly streams: readonly (Writable | NodeJS.ReadWriteStream)[];
  /** Call it when the last stream has written all bytes. Resolves when the target exists under its name. */
  complete(): Promise<void>;
  /** Call it when the export failed. Removes what was written. */
  discard(): Promise<void>;
}

/** Writes to the file `<path>.part`, which is renamed to `path` when it is complete. If `path` ends in .gz, the file is compressed. */
export async function openFileTarget(path: string): Promise<ExportTarget> {
  const part = `${path}.part`;
  // Only a regular file may be replaced. Renaming would replace a device by a file, and would fail for a folder, after the whole export.
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

const S3_OBJECT = /^(s3:\/\/[^/]+)\/(.+)$/;

/** Writes to the object `s3://bucket/name`, which exists only when it is complete. If the name ends in .gz, the object is compressed. */
export async function openS3Target(url: string, env: CliEnvironment): Promise<ExportTarget> {
  const [, bucket = url, name = ''] = S3_OBJECT.exec(url) ?? [];
  if (name === '') throw new CliError(`--to must be s3://bucket/name, not "${hideCredentials(url)}"`, EXIT.usage);
  const objects = await openObjects(bucket, env).catch((error: Error) => {
    throw new CliError(`--to: ${error.message}`, EXIT.usage);
  });
  const output = new PassThrough();
  const stored = objects.put(name, output).finally(() => objects.close());
  // If S3 refuses the object during the upload, this ends the other streams. `complete` and `discard` wait for the result.
  stored.catch((error: Error) => output.destroy(error));
  return {
    streams: name.endsWith('.gz') ? [createGzip(), output] : [output],
    complete: () => stored,
    async discard() {
      output.destroy(new Error('the export failed'));
      await Promise.allSettled([stored]);
    },
  };
}
