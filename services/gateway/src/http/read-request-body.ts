import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject, parseJson } from '@weir/domain/json/json';
import { jsonFault } from '@weir/domain/json/json-fault';
import { SUPPORTED_ENCODINGS, UNSUPPORTED_ENCODING } from '@weir/runtime/http/content-encodings';
import {
  type ContentCoding,
  contentCodingOf,
  createDecompressBody,
  type DecompressBody,
  isPlain,
} from './decompress-body.ts';

export const BODY_BYTES_MAX = 64 * 1024;
/**
 * After a 413 or 415, up to this many bytes are read and discarded. The client then receives the answer instead of a connection reset.
 */
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;

/** The body of a request as a JSON object and as text. */
export interface ParsedBody {
  json: JsonObject;
  readonly text: string;
}

/** A body, or the answer that refuses it. */
export type Body = ParsedBody | Refusal;

export interface Refusal {
  readonly status: 400 | 413 | 415 | 503;
  readonly message: string;
  readonly headers?: readonly string[];
}

const ENCODING_UNKNOWN: Refusal = {
  status: 415,
  message: UNSUPPORTED_ENCODING,
  headers: ['Accept-Encoding', SUPPORTED_ENCODINGS],
};
const BOM = Buffer.from('\ufeff');
const NOT_UTF8: Body = { status: 400, message: 'the body must be valid UTF-8' };
const EMPTY_BODY: Body = { status: 400, message: 'the body is empty: it must be a JSON object' };
export const NOT_OBJECT: Refusal = { status: 400, message: 'the body must be a JSON object' };

const FORGOTTEN: JsonObject = Object.freeze({});

/**
 * Drops the parsed body, so that its memory can be freed. Call it before a request waits for the event log: the wait can take seconds, and the
 * objects of a body can need more than 20 times the memory of its text.
 */
export function forgetJson(body: ParsedBody): void {
  body.json = FORGOTTEN;
}

/**
 * Reads a body of at most `bytesMax` bytes after decompression. Returns synchronously if the whole body has arrived and is not compressed. A small
 * body usually arrives directly after the event `request`. So the result is usually synchronous if the caller has awaited something before this
 * call. If the client closes the connection before the end of the body, the promise never resolves. With `turn`, the body is
 * decompressed and parsed only after the whole body has arrived and then the promise of `turn` has resolved.
 */
export type ReadBody = (request: IncomingMessage, bytesMax: number, turn?: () => Promise<void>) => Body | Promise<Body>;

export function createReadBody(): ReadBody {
  const decompress = createDecompressBody();
  return (request, bytesMax, turn) => {
    const inTurn = (read: ReadBytes): ReadBytes =>
      turn === undefined ? read : (bytes) => turn().then(() => read(bytes));
    const encoding = request.headers['content-encoding'];
    if (encoding === undefined || isPlain(encoding)) return readBytes(request, bytesMax, inTurn(parseBody), bytesMax);
    const coding = contentCodingOf(encoding);
    if (coding === undefined) return discard(request, ENCODING_UNKNOWN);
    return readBytes(request, compressedMax(bytesMax), inTurn(readCompressed(coding, bytesMax, decompress)), bytesMax);
  };
}

type ReadBytes = (bytes: Buffer) => Body | Promise<Body>;

/** The limit of a compressed body. It is slightly higher than that of the decompressed body, because compressing random data makes it longer. */
function compressedMax(bytesMax: number): number {
  return bytesMax + bytesMax / COMPRESSED_EXTRA_PART;
}

function readCompressed(coding: ContentCoding, bytesMax: number, decompress: DecompressBody): ReadBytes {
  return async (compressed) => {
    const decompressed = await decompress(compressed, coding, bytesMax);
    if (Buffer.isBuffer(decompressed)) return parseBody(decompressed);
    return decompressed === 'too large' ? tooLarge(bytesMax) : DECOMPRESS_FAILURES[decompressed];
  };
}

/** Reads the whole body and passes it to `read`. If it is longer than `readMax` bytes, the answer is a 413 that names `bytesMax` as the limit. */
function readBytes(request: IncomingMessage, readMax: number, read: ReadBytes, bytesMax: number): Body | Promise<Body> {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (length > readMax) return discard(request, tooLarge(bytesMax));
  if (length === request.readableLength) {
    const bytes: Buffer = request.read() ?? EMPTY;
    // Lets the request end. Otherwise, Node would keep it until the next request of its connection.
    request.resume();
    return read(bytes);
  }
  return new Promise((resolve) => {
    let taken: Buffer = EMPTY;
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      const before = bytes;
      bytes += chunk.length;
      if (bytes > readMax) {
        request.off('data', take).off('end', end);
        resolve(discard(request, tooLarge(bytesMax)));
      } else if (before === 0) taken = chunk;
      else {
        // Chunks are not kept, because a body can have a chunk for each byte, and each chunk needs about 200 bytes of memory.
        if (bytes > taken.length) taken = Buffer.concat([taken], Math.min(2 * bytes, readMax));
        chunk.copy(taken, before);
      }
    };
    const end = (): void => resolve(read(taken.subarray(0, bytes)));
    request.on('data', take).on('end', end);
  });
}

const EMPTY = Buffer.alloc(0);
/** If data cannot be compressed, the headers and block headers of the format make the body longer by less than 1/64 of the limit. */
const COMPRESSED_EXTRA_PART = 64;
const DECOMPRESS_FAILURES: Readonly<Record<'corrupt' | 'busy', Refusal>> = {
  corrupt: { status: 400, message: 'the body must be complete and valid in its Content-Encoding' },
  busy: {
    status: 503,
    message: 'too many br bodies are waiting to be decompressed; send it again',
    headers: ['Retry-After', '1'],
  },
};

function tooLarge(bytesMax: number): Refusal {
  return { status: 413, message: `the body must be at most ${bytesMax / 1024} KiB` };
}

async function discard(request: IncomingMessage, body: Body): Promise<Body> {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES_MAX) request.destroy();
  });
  return body;
}

export function parseBody(sent: Buffer): Body {
  const bytes = sent[0] === BOM[0] && sent.subarray(0, BOM.length).equals(BOM) ? sent.subarray(BOM.length) : sent;
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return NOT_UTF8;
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  const json = parseJson(text);
  if (json === undefined) return text.trim() === '' ? EMPTY_BODY : notJson(text);
  return isJsonObject(json) ? { json, text } : NOT_OBJECT;
}

/** The message is a getter, because collect does not send it. */
function notJson(text: string): Refusal {
  return {
    status: 400,
    get message() {
      const before = text.slice(0, jsonFault(text)).split('\n');
      const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
      return `the body must be valid JSON: the first error is at ${place}`;
    },
  };
}
