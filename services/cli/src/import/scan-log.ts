import { createHash } from 'node:crypto';

export interface LogScan {
  /** SHA-256 of the uncompressed bytes as hex, so that it does not depend on the compression. */
  readonly digest: string;
  readonly lines: number;
  /** The last line, or the last 256 bytes of it if it is longer. */
  readonly lastLine: string;
}

const TAIL_BYTES = 256;

const NEWLINE = 10;

/** Reads a whole log before it is imported. Returns its digest, the number of its lines, and the last line. */
export async function scanLog(chunks: AsyncIterable<Uint8Array>): Promise<LogScan> {
  const hash = createHash('sha256');
  let lines = 0;
  let last = NEWLINE;
  let tail: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    hash.update(chunk);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    last = chunk[chunk.length - 1] ?? NEWLINE;
    tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }
  const lastLine = Buffer.from(tail).toString().trimEnd().split('\n').at(-1) ?? '';
  return { digest: hash.digest('hex'), lines: last === NEWLINE ? lines : lines + 1, lastLine };
}
