import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';

/** The size of a chunk. Files are cut at fixed positions, so an unchanged region of a database file gives the same chunk as before. */
export const CHUNK_BYTES = 4 * 1024 * 1024;
/** The fastest level, because a backup must not compete with the live processes for the CPU. */
const GZIP_LEVEL = 1;
const CHUNKS = 'chunks/';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Stores the content of files as chunks. A chunk is stored once under its SHA-256, so content of earlier backups is not stored again. */
export interface ChunkRepository {
  /** Stores what is read from `source`. Resolves with the chunks' names, in order, and the number of bytes. */
  store(source: AsyncIterable<Uint8Array>): Promise<StoredChunks>;
  /** Whether a chunk is in the object store, according to the list at the start and the chunks stored since. */
  has(chunk: string): boolean;
  /** Bytes that `store` has sent to the object store, after compression. */
  bytesSent(): number;
}

export interface StoredChunks {
  readonly bytes: number;
  readonly chunks: readonly string[];
}

/** Opens the repository in an object store. It reads the list of existing chunks, so that only new chunks are stored. */
export async function openChunkRepository(objects: ObjectStore): Promise<ChunkRepository> {
  const known = new Set<string>();
  for await (const { name } of objects.list(CHUNKS)) known.add(name.slice(name.lastIndexOf('/') + 1));
  let sent = 0;

  async function storeChunk(bytes: Buffer): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (!known.has(hash)) {
      const packed = await compress(bytes, { level: GZIP_LEVEL });
      await objects.put(objectName(hash), packed);
      known.add(hash);
      sent += packed.length;
    }
    return hash;
  }

  return {
    async store(source) {
      const chunks: string[] = [];
      let bytes = 0;
      for await (const chunk of inChunks(source)) {
        bytes += chunk.length;
        chunks.push(await storeChunk(chunk));
      }
      return { bytes, chunks };
    },
    has: (chunk) => known.has(chunk),
    bytesSent: () => sent,
  };
}

/** Reads the chunks in order. Throws `object_store_damaged` if a chunk is missing or damaged, for example if its SHA-256 is not its name. */
export async function* readChunks(objects: ObjectStore, chunks: readonly string[]): AsyncIterable<Buffer> {
  for (const hash of chunks) yield await readChunk(objects, hash);
}

/** Deletes the chunks that are not in `used`. */
export async function deleteUnusedChunks(objects: ObjectStore, used: ReadonlySet<string>): Promise<void> {
  for await (const { name } of objects.list(CHUNKS)) {
    if (!used.has(name.slice(name.lastIndexOf('/') + 1))) await objects.delete(name);
  }
}

const objectName = (hash: string): string => `${CHUNKS}${hash.slice(0, 2)}/${hash}`;

async function readChunk(objects: ObjectStore, hash: string): Promise<Buffer> {
  const packed: Readable | undefined = await objects.get(objectName(hash));
  if (packed === undefined) throw new DependencyError('object_store_damaged', `the backup lacks the chunk ${hash}`);
  let bytes: Buffer;
  try {
    bytes = await decompress(await buffer(packed), { maxOutputLength: CHUNK_BYTES });
  } catch (error) {
    if (error instanceof DependencyError) throw error;
    throw new DependencyError('object_store_damaged', `the chunk ${hash} of the backup is damaged`, { cause: error });
  }
  if (createHash('sha256').update(bytes).digest('hex') !== hash) {
    throw new DependencyError(
      'object_store_damaged',
      `the chunk ${hash} of the backup has other bytes than its name says`,
    );
  }
  return bytes;
}

async function* inChunks(source: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of source) {
    let rest = piece;
    while (length + rest.length >= CHUNK_BYTES) {
      pieces.push(rest.subarray(0, CHUNK_BYTES - length));
      rest = rest.subarray(CHUNK_BYTES - length);
      yield Buffer.concat(pieces);
      pieces = [];
      length = 0;
    }
    if (rest.length > 0) pieces.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
}
