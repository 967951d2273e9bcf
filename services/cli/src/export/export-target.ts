import { open, rename, rm, stat } from 'node:fs/promises';
import { PassThrough, type Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { CliEnvironment } from '../cli-config.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { openObjects } from '../open-objects.ts';

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

const S3_OBJECT = /^(s3:\/\/[^/]+)\/(.+)$/;

/** `s3://bucket/name`: the object exists only when it is complete. A name in .gz is compressed. */
export async function openS3Target(url: string, env: CliEnvironment): Promise<ExportTarget> {
  const [, bucket = url, name = ''] = S3_OBJECT.exec(url) ?? [];
  if (name === '') throw new CliError(`--to must be s3://bucket/name, not "${url}"`, EXIT.usage);
  const objects = await openObjects(bucket, env).catch((error: Error) => {
    throw new CliError(`--to: ${error.message}`, EXIT.usage);
  });
  const output = new PassThrough();
  const stored = objects.put(name, output).finally(() => objects.close());
  // `complete` and `discard` wait for it. A refusal in the middle must also end the pipeline.
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
