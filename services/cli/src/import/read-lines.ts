import { StringDecoder } from 'node:string_decoder';
import { ACCESS_LOG_LINE_CHARS_MAX } from '@weir/domain/access-log/access-log';

/**
 * Yields the lines of a log in batches. Only \n ends a line. A line that is not complete yet is cut to `charsMax` characters plus one. This
 * limits the memory, and the caller can still recognise that the line is too long.
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
