import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createGzip } from 'node:zlib';
import type { StoredRecord } from '@weir/ports/event-log';
import type { SegmentRange } from './segment-name.ts';

/** The first line of a segment. */
export interface SegmentHeader extends SegmentRange {
  readonly weirSegment: typeof SEGMENT_VERSION;
}

/** A line for each record. `value` is the record's text; a value that is not UTF-8 is in `base64` instead. */
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
  /** Hex, over all bytes before this line. */
  readonly sha256: string;
}

export const SEGMENT_VERSION = 1;

/** Half of the time of the default level 6, for segments that are 17 % larger (docs/decisions/0027). */
const GZIP_LEVEL = 3;

/** Lines are compressed in pieces of this size: each piece is a round trip to another thread. */
const PIECE_BYTES = 256 * 1024;

/** Builds a segment record by record. Only the compressed bytes are held in memory, and less than one piece. */
export interface SegmentEncoder {
  /** Resolves when the next record can be added. */
  add(record: StoredRecord): Promise<void>;
  /** Bytes before compression. */
  bytes(): number;
  records(): number;
  /**
   * Resolves with the whole object. The header names the range, so the encoder compresses it when the range is known: gzip allows
   * several members in one file, and the header is a member of its own before the lines.
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
