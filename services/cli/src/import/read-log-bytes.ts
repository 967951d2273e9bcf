import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '@weir/domain/errors';
import { Decompress } from 'fzstd';
import { CliError, EXIT } from '../exit-codes.ts';
import type { LogFile } from './open-log-file.ts';

const CHUNK_BYTES = 256 * 1024;

/** Compression formats that the import refuses, because no well-maintained library can read them as a stream. */
const UNREAD = [
  { bytes: /^425a683/, packing: 'bzip2', unpack: 'bzip2 -dc FILE' },
  { bytes: /^fd377a58/, packing: 'xz', unpack: 'xz -dc FILE' },
  { bytes: /^504b0304/, packing: 'zip', unpack: 'unzip -p FILE' },
] as const;

/**
 * Yields the decompressed bytes of a log. The compression (none, gzip or zstd) is detected from the first bytes. bzip2, xz and zip are
 * refused with an error that names them. Throws `CliError` if the file cannot be read, or when `interrupted` has aborted. `onRead` receives the
 * number of bytes of the file that are read.
 */
export async function* readLogBytes(
  log: LogFile,
  interrupted?: AbortSignal,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of uncompressed(log, onRead)) {
      throwIfInterrupted(interrupted);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`can't read ${log.path}: ${messageOf(error)}`);
  }
}

export function throwIfInterrupted(interrupted: AbortSignal | undefined): void {
  if (interrupted?.aborted === true) {
    throw new CliError('interrupted while the file was read: run the same command again', EXIT.interrupted);
  }
}

async function* uncompressed(log: LogFile, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const magic = await firstBytes(log);
  const unread = UNREAD.find(({ bytes }) => bytes.test(magic));
  if (unread !== undefined) {
    const { packing, unpack } = unread;
    throw new Error(`${packing} is not supported; decompress it into a pipe: ${unpack} | weir import - --site SITE`);
  }
  const stored = Readable.from(storedBytes(log, onRead));
  const decipher = log.decrypt?.();
  if (decipher !== undefined) stored.on('error', (error) => decipher.destroy(error));
  const file = decipher === undefined ? stored : stored.pipe(decipher);
  try {
    if (magic.startsWith('1f8b')) {
      const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
      file.on('error', (error: Error) => gunzip.destroy(error));
      yield* file.pipe(gunzip);
    } else if (magic.startsWith('28b52ffd')) yield* unzstd(file);
    else yield* file;
  } finally {
    stored.destroy();
    file.destroy();
  }
}

async function firstBytes({ handle, decrypt }: LogFile): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  const stored = buffer.subarray(0, bytesRead);
  return (decrypt?.().update(stored) ?? stored).toString('hex');
}

/** Yields all bytes of the file. A stream made from `handle` is not used, because it would close the handle. */
async function* storedBytes({ handle }: LogFile, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
    onRead(position);
  }
}

async function* unzstd(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const stream = new Decompress((chunk) => {
    // The chunk is copied, because the decoder reuses its buffers.
    ready.push(chunk.slice());
  });
  for await (const chunk of file) {
    stream.push(chunk);
    yield* ready;
    ready = [];
  }
  stream.push(new Uint8Array(0), true);
  yield* ready;
}
