import { Readable } from 'node:stream';

/**
 * Returns the same content. If it cannot be read to its end, the error is what `translate` returns. After another error, readers would think that the
 * object is damaged.
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
  // Without this, a content that is closed before it is read would leave the body open: the generator has not begun.
  content.once('close', () => body.destroy());
  return content;
}
