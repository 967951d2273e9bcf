import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { DependencyError } from '@weir/domain/errors';
import type { StoredRecord } from '@weir/ports/event-log';
import { compressSync, uncompressSync } from 'lz4-napi';

/**
 * The key of an entry. An entry contains consecutive records of one partition that were appended in one transaction. Searches by
 * offset and by time read only the keys.
 */
export type EntryKey = [topic: string, partition: number, firstOffset: number, count: number, appendedAt: number];

/**
 * The maximum size of an entry with several records, before compression and without the headers of its last record. A larger record has its own
 * entry. LMDB stores an entry in consecutive pages, and for larger entries it would find enough consecutive free pages less often.
 */
export const ENTRY_BYTES_MAX = 256 * 1024;

export const HIGHEST_OFFSET = Number.MAX_SAFE_INTEGER;

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
/** The first two fields of a record. A record is: length of the value (4 bytes), length of the headers (2 bytes), headers, value. */
const RECORD_HEAD_BYTES = 6;

/**
 * The first 4 bytes of a compressed entry say how it is compressed. In an uncompressed entry, they are the length of the first value, which is never
 * one of these numbers. In a compressed entry, they are followed by the length of the uncompressed entry (4 bytes) and the compressed bytes.
 */
const LZ4 = 0xffffffff;
const BROTLI = 0xfffffffe;
const MARK_BYTES = 4;
const COMPRESSED_HEAD_BYTES = 8;
/** Smaller entries are not compressed: they contain too few records for a good compression. */
const COMPRESS_FROM_BYTES = 2048;
/**
 * From this size on, entries are compressed with Brotli. It needs a third less space than LZ4, but for smaller entries several times its CPU time,
 * and the gateway, whose requests wait for it, usually writes smaller ones.
 */
const BROTLI_FROM_BYTES = 64 * 1024;
/** Quality 1 is the fastest one that encodes frequent bytes in fewer bits. The window is as large as the largest entry. */
const BROTLI_PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 };

/** Compresses an entry if that makes it smaller. `EntryReader` reads compressed and uncompressed entries. */
export function packEntry(entry: Buffer): Buffer {
  if (entry.length < COMPRESS_FROM_BYTES) return entry;
  const packed = compress(entry);
  return packed === undefined || packed.length >= entry.length ? entry : packed;
}

/** Returns undefined if the library fails. Must not throw: LMDB would then commit only a part of the transaction. */
function compress(entry: Buffer): Buffer | undefined {
  try {
    if (entry.length < BROTLI_FROM_BYTES) return withMark(LZ4, compressSync(entry));
    const length = Buffer.alloc(COMPRESSED_HEAD_BYTES - MARK_BYTES);
    length.writeUInt32LE(entry.length);
    return withMark(BROTLI, length, brotliCompressSync(entry, { params: BROTLI_PARAMS, chunkSize: entry.length }));
  } catch {
    return undefined;
  }
}

function withMark(mark: number, ...parts: readonly Buffer[]): Buffer {
  // `allocUnsafeSlow` gives the buffer its own ArrayBuffer, so that a thread can transfer it to another thread.
  const entry = Buffer.allocUnsafeSlow(MARK_BYTES + parts.reduce((sum, { length }) => sum + length, 0));
  let at = entry.writeUInt32LE(mark, 0);
  for (const part of parts) {
    entry.set(part, at);
    at += part.length;
  }
  return entry;
}

function unpackEntry(key: EntryKey, stored: Buffer): Buffer {
  const mark = stored.length < COMPRESSED_HEAD_BYTES ? undefined : stored.readUInt32LE(0);
  if (mark !== LZ4 && mark !== BROTLI) return stored;
  const length = stored.readUInt32LE(MARK_BYTES);
  let cause: unknown;
  try {
    const entry =
      mark === LZ4
        ? uncompressSync(stored.subarray(MARK_BYTES))
        : brotliDecompressSync(stored.subarray(COMPRESSED_HEAD_BYTES), {
            chunkSize: Math.min(length, ENTRY_BYTES_MAX),
            maxOutputLength: length,
          });
    // If a block of LZ4 is incomplete, the library does not throw: it returns the part that it could read.
    if (entry.length === length) return entry;
  } catch (error) {
    cause = error;
  }
  throw damaged(key, 'cannot be decompressed', cause);
}

/**
 * Throws unless the entry consists of exactly as many records as its key says. LMDB has no checksums: a broken disk or an incomplete copy can
 * replace a page by zeros. Without this check, the zeros would be read as many empty records, with offsets that belong to later entries.
 */
function assertIntact(key: EntryKey, entry: Buffer): void {
  let at = 0;
  let left = key[3];
  for (; left > 0 && at + RECORD_HEAD_BYTES <= entry.length; left--) {
    at += RECORD_HEAD_BYTES + entry.readUInt32LE(at) + entry.readUInt16LE(at + 4);
  }
  if (left !== 0 || at !== entry.length) throw damaged(key, `does not consist of ${key[3]} records`);
}

function damaged([topic, partition, offset]: EntryKey, what: string, cause?: unknown): DependencyError {
  const place = `offset ${offset} of partition ${partition} of ${topic}`;
  return new DependencyError('event_log_damaged', `the entry at ${place} ${what}: restore a backup`, { cause });
}

/** Encodes headers as alternating names and values, each terminated by a zero byte. */
export function encodeHeaders(headers: Readonly<Record<string, string>> | undefined): string {
  if (headers === undefined) return '';
  let text = '';
  for (const name in headers) text += `${name}\0${headers[name]}\0`;
  if (text.length > 0xffff)
    throw new RangeError('the headers of a record exceed 65,535 bytes: send fewer or shorter headers');
  return text;
}

export function recordBytes(value: Uint8Array, headers: string): number {
  return RECORD_HEAD_BYTES + headers.length + value.byteLength;
}

/** Writes one record and returns the position after it. */
export function writeRecord(entry: Buffer, at: number, value: Uint8Array, headers: string): number {
  entry.writeUInt32LE(value.byteLength, at);
  entry.writeUInt16LE(headers.length, at + 4);
  let position = at + RECORD_HEAD_BYTES;
  if (headers.length > 0) position += entry.write(headers, position, 'latin1');
  entry.set(value, position);
  return position + value.byteLength;
}

/** Reads the records of an entry in order. The values are views of one buffer. Throws `event_log_damaged` if it cannot read the entry. */
export class EntryReader {
  private position = 0;
  private offset: number;
  private readonly entry: Buffer;
  private readonly key: EntryKey;

  constructor(key: EntryKey, stored: Buffer) {
    this.key = key;
    this.entry = unpackEntry(key, stored);
    assertIntact(key, this.entry);
    this.offset = key[2];
  }

  get nextOffset(): number {
    return this.offset;
  }

  get done(): boolean {
    return this.position >= this.entry.length;
  }

  get nextValueBytes(): number {
    return this.entry.readUInt32LE(this.position);
  }

  skipTo(offset: number): void {
    while (this.offset < offset && !this.done) {
      const head = this.position;
      this.position += RECORD_HEAD_BYTES + this.entry.readUInt32LE(head) + this.entry.readUInt16LE(head + 4);
      this.offset += 1;
    }
  }

  next(): StoredRecord {
    const head = this.position;
    const headersAt = head + RECORD_HEAD_BYTES;
    const valueAt = headersAt + this.entry.readUInt16LE(head + 4);
    const end = valueAt + this.entry.readUInt32LE(head);
    this.position = end;
    return {
      offset: this.offset++,
      value: this.entry.subarray(valueAt, end),
      headers: valueAt === headersAt ? NO_HEADERS : this.decodeHeaders(headersAt, valueAt),
      appendedAt: this.key[4],
    };
  }

  private decodeHeaders(from: number, to: number): Record<string, string> {
    const text = this.entry.toString('latin1', from, to);
    const headers: Record<string, string> = {};
    let at = 0;
    while (at < text.length) {
      const nameEnd = text.indexOf('\0', at);
      const valueEnd = text.indexOf('\0', nameEnd + 1);
      if (valueEnd < 0) throw damaged(this.key, 'has a record with invalid headers');
      headers[text.slice(at, nameEnd)] = text.slice(nameEnd + 1, valueEnd);
      at = valueEnd + 1;
    }
    return headers;
  }
}
