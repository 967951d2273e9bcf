import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { CliError } from '../exit-codes.ts';

const CHUNK_BYTES = 256 * 1024;

/** The uncompressed bytes of a log. Plain, gzip or zstd: its first bytes tell, not its name. */
export async function* openLogFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* uncompressed(path);
  } catch (error) {
    throw new CliError(`can't read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function* uncompressed(path: string): AsyncGenerator<Uint8Array> {
  const magic = await firstBytes(path);
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (magic.startsWith('1f8b')) {
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
    file.on('error', (error) => gunzip.destroy(error));
    try {
      yield* file.pipe(gunzip);
    } finally {
      file.destroy();
    }
  } else if (magic.startsWith('28b52ffd')) yield* unzstd(file);
  else yield* file;
}

async function firstBytes(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString('hex');
  } finally {
    await file.close();
  }
}

async function* unzstd(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const stream = new Decompress((chunk) => {
    // The decoder uses its buffers again.
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
