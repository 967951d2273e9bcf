import { StringDecoder } from 'node:string_decoder';
import { ACCESS_LOG_LINE_CHARS_MAX } from '@weir/domain/access-log/access-log';

/**
 * Yields the lines of a log in batches. Only \n ends a line. The part of a line that is kept until its end is read is cut to one character
 * more than the limit, so a line that is too long can still be recognised.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  charsMax = ACCESS_LOG_LINE_CHARS_MAX,
): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))).split('\n');
    rest = (lines.pop() ?? '').slice(0, charsMax + 1);
    if (lines.length > 0) yield lines;
  }
  rest += decoder.end();
  if (rest !== '') yield [rest];
}
