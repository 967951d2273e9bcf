import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdminClient } from '../src/admin-client.ts';

const LIMIT_MS = 50;
/** Much longer than LIMIT_MS, because `fetch` checks its limits only about once a second. */
const PAUSE_MS = 2_500;
jest.setTimeout(60_000);

/** The global object of Node, from which `fetch` reads its dispatcher. A Jest test has another global object. */
const NODE_GLOBAL = (fetch.constructor as FunctionConstructor)('return globalThis')() as Record<symbol, object>;
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

test('an export waits longer than the limits of fetch, before the first row and between two rows', async () => {
  const server = createServer(async (_, response) => {
    await pause(PAUSE_MS);
    response.writeHead(200);
    response.write('a row\n');
    await pause(PAUSE_MS);
    response.end('another row\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The first call of `fetch` creates the dispatcher. The test then replaces it by one whose limits are shorter than 300 s.
  await fetch('data:,');
  const former = NODE_GLOBAL[DISPATCHER] as object;
  const Agent = former.constructor as new (limits: object) => object;
  NODE_GLOBAL[DISPATCHER] = new Agent({ headersTimeout: LIMIT_MS, bodyTimeout: LIMIT_MS });
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createAdminClient({ url, adminToken: 'token', tokenFrom: 'WEIR_ADMIN_TOKEN' });
    expect(await text(await client.open('/sites/shop/export/events'))).toBe('a row\nanother row\n');
  } finally {
    NODE_GLOBAL[DISPATCHER] = former;
    server.closeAllConnections();
    server.close();
  }
});
