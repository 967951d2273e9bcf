import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpServer, startHttpServer } from '@weir/runtime/http/http-server';
import { createLogger } from '@weir/runtime/logger';
import { ADMIN_TOKEN, type ControlHarness, openControlHarness } from '../../control/test/control-harness.ts';
import { cli } from './cli-harness.ts';

/** The server waits at most three seconds for a complete request. In this time, 400 kB arrive. A whole chunk has more than 1 MB. */
const REQUEST_TIMEOUT_MS = 3000;
const BYTES_PER_TICK = 20_000;
const TICK_MS = 150;

let weir: ControlHarness;
let front: HttpServer;
let uplink: Server;
let folder: string;
let env: Record<string, string>;
const statuses: number[] = [];
beforeAll(async () => {
  weir = await openControlHarness();
  front = await startHttpServer({
    app: Object.assign(forward, { request: http.IncomingMessage.prototype, response: http.ServerResponse.prototype }),
    refuse({ response, status, message }) {
      statuses.push(status);
      response.statusCode = status;
      response.end(JSON.stringify({ status: 'error', error: { code: status, message } }));
    },
    host: '127.0.0.1',
    port: 0,
    logger: createLogger('silent'),
    limits: { requestTimeoutMs: REQUEST_TIMEOUT_MS },
  });
  uplink = createServer({ allowHalfOpen: true }, throttle);
  await new Promise<void>((resolve) => uplink.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(join(tmpdir(), 'weir-uplink-'));
  const { port } = uplink.address() as AddressInfo;
  env = { WEIR_URL: `http://127.0.0.1:${port}`, WEIR_ADMIN_TOKEN: ADMIN_TOKEN };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const socket of sockets) socket.destroy();
  uplink.close();
  await front.close(0);
  await weir.close();
});

/** Passes a request on to control when its body is complete. */
function forward(request: http.IncomingMessage, response: http.ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('error', () => undefined);
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const { method = 'GET', headers, url = '' } = request;
    const answer = await fetch(weir.url + url, {
      method,
      headers: { authorization: String(headers.authorization), 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    });
    response.statusCode = answer.status;
    response.end(await answer.text());
  });
}

const sockets = new Set<Socket>();

/** Passes on what a client sends, at a limited speed, and answers at full speed. */
function throttle(client: Socket): void {
  const server = connect(front.port, '127.0.0.1');
  for (const socket of [client, server]) {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  }
  server.pipe(client);
  server.on('close', () => client.destroySoon());
  client.on('close', () => server.destroy());
  void passOn(client, server).catch(() => server.destroy());
}

async function passOn(client: Socket, server: Socket): Promise<void> {
  for await (const chunk of client as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; at += BYTES_PER_TICK) {
      server.write(chunk.subarray(at, at + BYTES_PER_TICK));
      if (chunk.length >= BYTES_PER_TICK) await pause(TICK_MS);
    }
  }
}

test('an import over an uplink that is too slow for a whole chunk sends smaller chunks', async () => {
  const site = (await weir.call('POST', '/sites', { name: 'N', domain: 'example.com' })).body.data.site_id;
  const path = join(folder, 'slow.log');
  const line = (n: number) =>
    `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /${n}/${'x'.repeat(900)} HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:25.0) Gecko/20100101 Firefox/25.0"\n`;
  writeFileSync(path, Array.from({ length: 1500 }, (_, n) => line(n)).join(''));
  const run = await cli(['import', path, '--site', site, '--json'], { env });
  expect([run.exitCode, run.json]).toMatchObject([0, { lines: 1500, rows_appended: 1500, queryable: true }]);
  expect(statuses).toContain(408);
  const query = 'SELECT count() AS rows, uniqExact(pathname) AS lines FROM events WHERE site_id = {site:String}';
  const { body } = await weir.call('POST', '/sql', { query, params: { site } });
  expect([Number(body.data.rows[0].rows), Number(body.data.rows[0].lines)]).toEqual([1500, 1500]);
});
