import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { clickhouseError } from './clickhouse-error.ts';

export const BODY_BYTES_MAX = 256 * 1024 * 1024;
const BODIES_BYTES_MAX = 512 * 1024 * 1024;

type Decode = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  'x-gzip': promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
};

/** Bytes of all bodies that are being read or processed. */
let bytesHeld = 0;

/** Reads and decompresses the request's body and passes it to `use`. Its bytes count against BODIES_BYTES_MAX until `use` settles. */
export async function withBody<T>(req: IncomingMessage, use: (body: Buffer) => Promise<T>): Promise<T> {
  let held = 0;
  const hold = (bytes: number): void => {
    held += bytes;
    bytesHeld += bytes;
    if (held > BODY_BYTES_MAX) throw tooLarge('The body', BODY_BYTES_MAX);
    if (bytesHeld > BODIES_BYTES_MAX) throw tooLarge('All bodies under way', BODIES_BYTES_MAX);
  };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) {
      hold(chunk.length);
      chunks.push(chunk);
    }
    const body = await unpack(Buffer.concat(chunks), req.headers['content-encoding']);
    hold(Math.max(0, body.length - held));
    return await use(body);
  } finally {
    bytesHeld -= held;
  }
}

async function unpack(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  const decode = DECODERS[name];
  if (decode === undefined) {
    throw clickhouseError(48, 'NOT_IMPLEMENTED', `Content-Encoding ${name} is not supported: use gzip, deflate or br`);
  }
  try {
    return await decode(body, { maxOutputLength: BODY_BYTES_MAX });
  } catch (error) {
    throw clickhouseError(354, 'ZLIB_INFLATE_FAILED', `The ${name} body cannot be decompressed: ${String(error)}`, 400);
  }
}

function tooLarge(what: string, bytesMax: number): Error {
  return clickhouseError(241, 'MEMORY_LIMIT_EXCEEDED', `${what} would take more than ${bytesMax} bytes`, 413);
}
