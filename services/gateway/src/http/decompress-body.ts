import { promisify } from 'node:util';
import { brotliDecompress, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { createSlots } from '@weir/runtime/task-slots';

export type ContentCoding = 'gzip' | 'deflate' | 'br';

const PLAIN = /^(identity)?$/i;
/** Content encodings. x-gzip means gzip (RFC 9110, 8.4.1.3). Several encodings of one body are not supported. */
const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);

export function isPlain(encoding: string): boolean {
  return PLAIN.test(encoding);
}

export function contentCodingOf(encoding: string): ContentCoding | undefined {
  return CODINGS.get(encoding.toLowerCase());
}

/** `corrupt`: the body is truncated, damaged, or followed by other bytes. `busy`: too many Brotli bodies wait for decompression. */
export type Decompressed = Buffer | 'too large' | 'corrupt' | 'busy';

export type DecompressBody = (compressed: Buffer, coding: ContentCoding, bytesMax: number) => Promise<Decompressed>;

/** Brotli uses at most two of libuv's four default threads, because the commits of the event log also need threads. */
const BROTLI_RUNNING_MAX = 2;
const BROTLI_WAITING_MAX = 256;
const brotli = promisify(brotliDecompress);

/**
 * Decompresses at most `bytesMax` bytes. gzip and deflate stop within 32 KiB of the limit (0.2 ms for a decompression bomb), so
 * they run synchronously. Brotli first fills its window of up to 16 MiB, whatever the limit is (46 ms for a bomb of 51 bytes).
 * Brotli therefore runs in other threads, for at most two bodies at a time: a client can neither block the event loop nor use up the
 * memory.
 */
export function createDecompressBody(): DecompressBody {
  const runInSlot = createSlots(BROTLI_RUNNING_MAX);
  let waiting = 0;

  return async (compressed, coding, bytesMax) => {
    const options = { maxOutputLength: bytesMax, info: true } as const;
    try {
      if (coding !== 'br') return whole(compressed, decompressSync(compressed, coding, options));
      if (waiting >= BROTLI_WAITING_MAX) return 'busy';
      waiting += 1;
      const decompressed = await runInSlot(() => {
        waiting -= 1;
        return brotli(compressed, options);
      });
      return whole(compressed, decompressed);
    } catch (error) {
      return failure(error);
    }
  };
}

function decompressSync(compressed: Buffer, coding: 'gzip' | 'deflate', options: ZlibOptions): Buffer {
  if (coding === 'gzip') return gunzipSync(compressed, options);
  // RFC 9110 requires zlib's format (RFC 1950), but some clients send a raw deflate stream (RFC 1951). Browsers accept both.
  return hasZlibHeader(compressed) ? inflateSync(compressed, options) : inflateRawSync(compressed, options);
}

/** The result of zlib's functions with the option `info`. Node's types do not declare the field `engine`. */
interface WithEngine {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function whole(compressed: Buffer, result: unknown): Decompressed {
  const { buffer, engine } = result as WithEngine;
  return engine.bytesWritten === compressed.length ? buffer : 'corrupt';
}

function failure(error: unknown): 'too large' | 'corrupt' {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too large';
  if (/^Z_(BUF|DATA)_ERROR$|^Z_NEED_DICT$|^ERR_.*_FORMAT_/.test(code)) return 'corrupt';
  throw error;
}

/**
 * In zlib's format (RFC 1950), the low four bits of the first byte are 8. A raw stream (RFC 1951) has this value only if it begins with a stored
 * block whose padding is not zero. Encoders write zeros as padding.
 */
function hasZlibHeader(compressed: Buffer): boolean {
  return ((compressed[0] ?? 0) & 0x0f) === 8;
}
