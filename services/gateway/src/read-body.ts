import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Json, JsonObject } from '@weir/domain/json';

export const BODY_BYTES_MAX = 64 * 1024;
/** What is read and thrown away after a 413, so that its sender sees the answer instead of a reset. */
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;

/** A request's body: its JSON object with the text it was read from, or why it can't be taken. */
export type Body =
  | { readonly json: JsonObject; readonly text: string }
  | { readonly status: 400 | 413; readonly message: string };

const PLAIN = /^(identity)?$/i;
const ENCODED: Body = { status: 400, message: 'the body must not be compressed: Content-Encoding is not supported' };
const NOT_UTF8: Body = { status: 400, message: 'the body must be valid UTF-8' };
const NOT_JSON: Body = { status: 400, message: 'the body must be valid JSON' };
const NOT_OBJECT: Body = { status: 400, message: 'the body must be a JSON object' };

/** Reads the body. Never resolves where the client goes away before its end: then there is nobody to answer. */
export function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Body> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && !PLAIN.test(encoding)) return discard(request, ENCODED);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return discard(request, tooLarge(bytesMax));
  return new Promise((resolve) => {
    let chunks: Buffer | Buffer[] = EMPTY;
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        request.off('data', take).off('end', end);
        resolve(discard(request, tooLarge(bytesMax)));
      } else if (chunks === EMPTY) chunks = chunk;
      else if (Array.isArray(chunks)) chunks.push(chunk);
      else chunks = [chunks, chunk];
    };
    const end = (): void => resolve(parseBody(Array.isArray(chunks) ? Buffer.concat(chunks) : chunks));
    request.on('data', take).on('end', end);
  });
}

const EMPTY = Buffer.alloc(0);

function tooLarge(bytesMax: number): Body {
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

export function parseBody(bytes: Buffer): Body {
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) return NOT_UTF8;
  const text = bytes.toString(ascii ? 'latin1' : 'utf8');
  let json: Json;
  try {
    json = JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return NOT_OBJECT;
  return { json: json as JsonObject, text };
}
