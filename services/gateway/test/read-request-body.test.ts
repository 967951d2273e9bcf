import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { createReadBody } from '../src/http/read-request-body.ts';

const BYTES_MAX = 1_024;

/** Reads a body that arrives in chunks of `chunkBytes`. */
function readIn(chunkBytes: number, body: Buffer) {
  const request = new PassThrough();
  const read = createReadBody()(Object.assign(request, { headers: {} }) as unknown as IncomingMessage, BYTES_MAX);
  for (let at = 0; at < body.length; at += chunkBytes) request.write(body.subarray(at, at + chunkBytes));
  request.end();
  return read;
}

const bodyOf = (bytes: number): Buffer => Buffer.from(JSON.stringify({ text: 'ä'.repeat((bytes - 11) / 2) }));

test.each([1, 2, 7, 100, 1_000, 1_024])(
  'a body of the greatest length is read as it was sent in chunks of %d bytes',
  async (chunkBytes) => {
    const body = bodyOf(BYTES_MAX - 1);
    expect(body).toHaveLength(BYTES_MAX - 1);
    expect(await readIn(chunkBytes, Buffer.concat([body, Buffer.from(' ')]))).toEqual({
      json: JSON.parse(body.toString()),
      text: `${body} `,
    });
  },
);

test.each([1, 100, 1_024])('a longer body in chunks of %d bytes gets 413', async (chunkBytes) => {
  expect(await readIn(chunkBytes, Buffer.concat([bodyOf(BYTES_MAX - 1), Buffer.from('  ')]))).toMatchObject({
    status: 413,
  });
});
