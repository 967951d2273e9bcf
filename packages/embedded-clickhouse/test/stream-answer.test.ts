import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../src/engine.ts';
import { streamAnswer } from '../src/stream-answer.ts';

test('a query whose client has already left is not run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-pipes-'));
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: weir\r\n\r\n');
    const [, res] = (await once(server, 'request')) as [unknown, ServerResponse];
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
    const call = {} as Parameters<typeof streamAnswer>[1];
    const answer = streamAnswer(engine as unknown as Engine, call, folder, res);
    await expect(answer).rejects.toThrow('The client has closed the connection');
    expect(run).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
