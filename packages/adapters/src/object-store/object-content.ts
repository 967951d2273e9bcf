import { Readable } from 'node:stream';

/**
 * Returns a stream with the content of `body`. If `body` fails, the stream fails with the result of `translate`. Readers treat any other error as a
 * damaged object. With `stalledMs`, `body` fails if a reader waits this long for its next bytes. The time between two reads does not count.
 */
export function objectContent(body: Readable, translate: (error: unknown) => unknown, stalledMs?: number): Readable {
  const limitWait = (): NodeJS.Timeout | undefined =>
    stalledMs === undefined
      ? undefined
      : setTimeout(() => body.destroy(new Error(`no byte arrived for ${stalledMs / 1000} s`)), stalledMs);

  async function* read(): AsyncIterable<Uint8Array> {
    let timer = limitWait();
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        yield chunk;
        timer = limitWait();
      }
    } catch (error) {
      throw translate(error);
    } finally {
      clearTimeout(timer);
    }
  }
  const content = Readable.from(read(), { objectMode: false });
  // Closes `body` also if the stream is closed before it is read: then the generator has not begun, and does not close `body` itself.
  content.once('close', () => body.destroy());
  return content;
}
