import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../src/engine.ts';
import { streamAnswer } from '../src/stream-answer.ts';

const call = {} as Parameters<typeof streamAnswer>[1];

/** Runs `test` with a folder for pipes, a client, and the response to a request of this client. */
async function withClient(test: (folder: string, client: Socket, res: ServerResponse) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-pipes-'));
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: weir\r\n\r\n');
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
    await test(folder, client, res);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

test('a query whose client has already left is not run', async () => {
  await withClient(async (folder, client, res) => {
    client.destroy();
    await once(res, 'close');
    const run: string[] = [];
    const engine = {
      async writeTo(path: string) {
        run.push(path);
        throw new Error('the query was run');
      },
      cancelWriteTo: async () => undefined,
    };
    const answer = streamAnswer(engine as unknown as Engine, call, folder, res);
    await expect(answer).rejects.toThrow('The client has closed the connection');
    expect(run).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('the query of a client that leaves is cancelled until it ends, also if a cancellation fails, and leaves no file', async () => {
  await withClient(async (folder, client, res) => {
    const calls: string[] = [];
    let cancelled: (error: Error) => void = () => undefined;
    let path = '';
    const engine = {
      writeTo(given: string) {
        path = given;
        client.destroy();
        return new Promise<void>((_, reject) => {
          cancelled = reject;
        });
      },
      async cancelWriteTo() {
        calls.push('cancel');
        if (calls.length === 1) throw new Error('Failed to create connection');
        // The engine opens the path for writing just before it notices the cancellation.
        writeFileSync(path, 'a row');
        cancelled(new Error('the query was cancelled'));
      },
    };
    await expect(streamAnswer(engine as unknown as Engine, call, folder, res)).rejects.toThrow();
    expect(calls).toEqual(['cancel', 'cancel']);
    expect(readdirSync(folder)).toEqual([]);
  });
});
