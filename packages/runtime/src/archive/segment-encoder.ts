import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createGzip } from 'node:zlib';
import type { StoredRecord } from '@weir/ports/event-log';
import type { SegmentRange } from './segment-name.ts';

/** The first line of a segment. */
export interface SegmentHeader extends SegmentRange {
  readonly weirSegment: typeof SEGMENT_VERSION;
}

/** The line of one record. A record whose value is not valid UTF-8 has `base64` instead of `value`. */
export interface SegmentLine {
  readonly offset: number;
  /** Unix milliseconds. */
  readonly appendedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly value?: string;
  readonly base64?: string;
}

/** The last line of a segment. */
export interface SegmentTrailer {
  readonly records: number;
  /** SHA-256 in hex of all lines of records, with their line feeds. */
  readonly sha256: string;
}

export const SEGMENT_VERSION = 1;

/** Level 3 needs half of the time of the default level 6. The segments are about 16 % larger (figures in docs/decisions/0027). */
const GZIP_LEVEL = 3;

/** Lines are compressed in pieces of about this size, because each call of gzip sends work to another thread and waits for it. */
const PIECE_BYTES = 256 * 1024;

/** Builds a segment record by record. The memory contains the compressed bytes and at most one piece of uncompressed lines. */
export interface SegmentEncoder {
  /** Resolves when the next record can be added. */
  add(record: StoredRecord): Promise<void>;
  /** Number of bytes of all added lines, before compression. */
  bytes(): number;
  records(): number;
  /**
   * Resolves with the content of the whole segment file. The header contains the last offset, which is not known before this call.
   * So the encoder compresses the header last and puts it first: a gzip file may consist of several parts that were compressed separately.
   */
  finish(range: SegmentRange): Promise<readonly Uint8Array[]>;
}

export function createSegmentEncoder(): SegmentEncoder {
  const hash = createHash('sha256');
  const lines = compressor();
  let piece: Buffer[] = [];
  let pieceBytes = 0;
  let bytes = 0;
  let records = 0;

  async function flush(): Promise<void> {
    const full = Buffer.concat(piece);
    piece = [];
    pieceBytes = 0;
    hash.update(full);
    await lines.write(full);
  }

  return {
    async add({ offset, appendedAt, headers, value }) {
      const line: SegmentLine = isUtf8(value)
        ? {
            offset,
            appendedAt,
            headers,
            value: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(),
          }
        : { offset, appendedAt, headers, base64: Buffer.from(value).toString('base64') };
      const text = Buffer.from(`${JSON.stringify(line)}\n`);
      piece.push(text);
      pieceBytes += text.length;
      bytes += text.length;
      records++;
      if (pieceBytes >= PIECE_BYTES) await flush();
    },
    bytes: () => bytes,
    records: () => records,
    async finish(range) {
      await flush();
      const header: SegmentHeader = { weirSegment: SEGMENT_VERSION, ...range };
      const trailer: SegmentTrailer = { records, sha256: hash.digest('hex') };
      const first = compressor();
      await first.write(Buffer.from(`${JSON.stringify(header)}\n`));
      await lines.write(Buffer.from(`${JSON.stringify(trailer)}\n`));
      return [...(await first.end()), ...(await lines.end())];
    },
  };
}

function compressor(): { write(bytes: Buffer): Promise<void>; end(): Promise<readonly Uint8Array[]> } {
  const chunks: Uint8Array[] = [];
  const gzip = createGzip({ level: GZIP_LEVEL });
  gzip.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => gzip.write(bytes, (error) => (error ? reject(error) : resolve()))),
    end: () =>
      new Promise((resolve, reject) => {
        gzip.once('error', reject);
        gzip.end(() => undefined);
        gzip.once('end', () => resolve(chunks));
      }),
  };
}
