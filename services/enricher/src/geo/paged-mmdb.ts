import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { MMDB_METADATA_BYTES_MAX } from '@weir/runtime/config/geoip-config';
import type { Reader, Response } from 'maxmind';
import { familiesOf, type MmdbFile, mmdbOf, openReader, readMmdb } from './mmdb-file.ts';

const readFrom = promisify(read);

/**
 * The number of nodes of the search tree that are read at once. Smaller blocks need more checksums, larger blocks fill the cache with unused nodes.
 */
const BLOCK_NODE_BITS = 7;
const BLOCK_NODES = 1 << BLOCK_NODE_BITS;
/** The number of blocks in the cache: 14.7 MB with nodes of 7 bytes. */
const CACHE_BLOCKS = 16_384;
/** The cache is 2-way associative: each block can be in two places. */
const WAYS = 2;
/** The start reads this many blocks at once to compute their checksums. */
const START_BLOCKS = 1024;

/** A file of geo data. `close` closes the file on disk: `get` must not be called after it. */
export interface OpenMmdb extends MmdbFile {
  close(): void;
}

/** A file has changed although it is open. */
export class ChangedFileError extends Error {
  constructor(path: string) {
    super(`${path} has changed since Weir has read it: restart Weir`);
  }
}

interface Walker {
  left(offset: number): number;
  right(offset: number): number;
}

/**
 * Opens an MMDB file without keeping its search tree in memory, which is 77 % of DB-IP's city data. A lookup reads missing blocks of the tree from
 * the file, and keeps them in a cache of `cacheBlocks` blocks (a power of 2). The file must not change until `close`: `get` throws if a block of the
 * tree differs from the one at the start (`ChangedFileError`). A file with a small tree, or with both address families, is read into memory. Rejects
 * if the file is damaged.
 */
export async function openPagedMmdb(path: string, cacheBlocks = CACHE_BLOCKS): Promise<OpenMmdb> {
  const fd = openSync(path, 'r');
  const opened = await openTree(path, fd, cacheBlocks).catch((error: unknown) => {
    closeSync(fd);
    throw error;
  });
  if (opened !== undefined) return opened;
  closeSync(fd);
  return { ...readMmdb(await readFile(path)), close: () => undefined };
}

async function openTree(path: string, file: number, cacheBlocks: number): Promise<OpenMmdb | undefined> {
  let fd = file;
  const { size } = fstatSync(fd);
  // The offsets in this buffer are those of the file. The operating system gives memory only for the pages that are written: the metadata, the
  // entries and, at the start of the tree's region, the cache.
  const bytes = Buffer.alloc(size);
  const tail = Math.max(0, size - MMDB_METADATA_BYTES_MAX);
  await fill(fd, bytes.subarray(tail), tail);
  const reader = openReader(bytes);
  const { searchTreeSize, nodeByteSize, ipVersion, databaseType } = reader.metadata;
  const blockBytes = BLOCK_NODES * nodeByteSize;
  // The reader looks up the root of the IPv4 addresses in its constructor. So a file with both families needs its tree then.
  if (searchTreeSize <= cacheBlocks * blockBytes || familiesOf(ipVersion, databaseType).length > 1) return undefined;
  await fill(fd, bytes.subarray(searchTreeSize), searchTreeSize);
  const checksums = await checksumsOf(fd, searchTreeSize, blockBytes);

  const sets = cacheBlocks / WAYS;
  /** The number of the block in each place of the cache. */
  const held = new Int32Array(sets * WAYS).fill(-1);
  /** For each set, the place that was used last: 0 or 1. */
  const lastUsed = new Uint8Array(sets);

  /** Returns the offset in `bytes` of the node that is at this offset in the file. */
  function place(offset: number): number {
    const node = (offset / nodeByteSize) >>> 0;
    const block = node >>> BLOCK_NODE_BITS;
    const set = block & (sets - 1);
    let way = 0;
    if (held[set * WAYS] !== block) way = held[set * WAYS + 1] === block ? 1 : load(block, set);
    lastUsed[set] = way;
    return (set * WAYS + way) * blockBytes + (node & (BLOCK_NODES - 1)) * nodeByteSize;
  }

  function load(block: number, set: number): number {
    const way = lastUsed[set] === 0 ? 1 : 0;
    const slot = set * WAYS + way;
    const from = block * blockBytes;
    const length = Math.min(blockBytes, searchTreeSize - from);
    held[slot] = -1;
    const count = readSync(fd, bytes, slot * blockBytes, length, from);
    const found = bytes.subarray(slot * blockBytes, slot * blockBytes + count);
    if (crc32(found) !== checksums[block]) throw new ChangedFileError(path);
    held[slot] = block;
    return way;
  }

  readNodesWith(reader, place);
  return {
    ...mmdbOf(reader, bytes),
    close() {
      if (fd >= 0) closeSync(fd);
      // Later reads fail: the operating system can use the number for another file.
      fd = -1;
    },
  };
}

/** Reads the bytes of the file at `position` until the target is full. */
async function fill(fd: number, target: Buffer, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await readFrom(fd, target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    done += bytesRead;
  }
}

/** Returns the CRC-32 of each block of the tree. */
async function checksumsOf(fd: number, treeBytes: number, blockBytes: number): Promise<Uint32Array> {
  const checksums = new Uint32Array(Math.ceil(treeBytes / blockBytes));
  const buffer = Buffer.alloc(START_BLOCKS * blockBytes);
  for (let position = 0; position < treeBytes; position += buffer.length) {
    const part = buffer.subarray(0, treeBytes - position);
    await fill(fd, part, position);
    for (let at = 0; at < part.length; at += blockBytes) {
      checksums[(position + at) / blockBytes] = crc32(part.subarray(at, at + blockBytes));
    }
  }
  return checksums;
}

/**
 * Makes the reader read each node at another offset of its buffer. The package maxmind has no public way to do this, so this function replaces the
 * private member `walker`. It throws if the member is missing. paged-mmdb.test.ts fails if the reader no longer uses it.
 */
function readNodesWith(reader: Reader<Response>, place: (offset: number) => number): void {
  const open = reader as unknown as { walker?: Partial<Walker> };
  const { left, right } = open.walker ?? {};
  if (left === undefined || right === undefined) throw new Error('this version of maxmind has no walker');
  open.walker = { left: (offset) => left(place(offset)), right: (offset) => right(place(offset)) };
}
