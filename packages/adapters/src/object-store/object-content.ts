import { Readable } from 'node:stream';

/**
 * Returns a stream with the content of `body`. If `body` fails, the stream fails with the result of `translate`. Readers treat any other error as a
 * damaged object.
 */
export function objectContent(body: Readable, translate: (error: unknown) => unknown): Readable {
  async function* read(): AsyncIterable<Uint8Array> {
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw translate(error);
    }
  }
  const content = Readable.from(read(), { objectMode: false });
  // Closes `body` also if the stream is closed before it is read: then the generator has not begun, and does not close `body` itself.
  content.once('close', () => body.destroy());
  return content;
}
