import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import type { Response } from 'express';
import { sendStream } from '../src/http/send-stream.ts';

const STALL_MS = 50;

/** Serves a stream with `sendStream`, and calls `use` with the answer that a client gets. */
async function serve(stream: Readable, use: (answer: IncomingMessage) => Promise<void>): Promise<void> {
  const server = createServer((_, plain) => {
    const response: Pick<Response, 'status' | 'set'> & ServerResponse = Object.assign(plain, {
      status: () => response,
      set: () => response,
    }) as never;
    void sendStream(
      response as Response,
      { status: 200, stream, contentType: 'text/plain' },
      createLogger('silent'),
      STALL_MS,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const [answer] = await once(get({ port: (server.address() as AddressInfo).port, agent: false }), 'response');
    await use(answer);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a client waits as long as the rows need', async () => {
  async function* rows(): AsyncIterable<string> {
    yield 'a row\n';
    await pause(6 * STALL_MS);
    yield 'another row\n';
  }
  await serve(Readable.from(rows()), async (answer) => {
    expect(await text(answer)).toBe('a row\nanother row\n');
  });
});

test('a client that does not read is cut off, and the stream is destroyed', async () => {
  function* rows(): Iterable<Buffer> {
    for (;;) yield Buffer.alloc(65_536);
  }
  const stream = Readable.from(rows());
  await serve(stream, async (answer) => {
    answer.on('error', () => undefined);
    await eventually('the stream to be destroyed', () => stream.destroyed);
  });
});
