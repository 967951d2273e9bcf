import { once } from 'node:events';
import { loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { freePort } from '@weir/testkit/free-port';
import { openSocket, sendHttp } from '@weir/testkit/http-client';
import { openStartupServer } from '../src/startup/startup-server.ts';

let url = '';
let server: { close(): Promise<unknown> };
beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = await openStartupServer(loadConfig({ PORT: String(port), COLLECT_PATHS: '/t/hit' }), createLogger('silent'));
});
afterAll(() => server.close());

/** Sends bytes that an HTTP client would not send. Returns the answer when the connection is closed. */
async function sendRaw(text: string): Promise<string> {
  const socket = openSocket(url);
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

test('a process that waits at its start has the metric of the alert WeirRegistryUnread', async () => {
  const { status, text } = await sendHttp(url, { path: '/metrics' });
  const [, seconds] = /^weir_registry_unread_seconds ([\d.]+)$/m.exec(text) ?? [];
  expect([status, Number(seconds) > 0]).toEqual([200, true]);
});

describe.each(['/api/collect', '/api/collect/', '/t/hit'])('%s of a process that waits at its start', (path) => {
  test('OPTIONS gets 204 with the CORS headers, so that browsers see the 503 of the hit', async () => {
    const { status, headers, text } = await sendHttp(url, { method: 'OPTIONS', path });
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'Content-Type',
      'access-control-max-age': '86400',
    });
    const hit = await sendHttp(url, { path, body: {} });
    expect([hit.status, hit.text]).toEqual([503, '']);
    expect(hit.headers).toMatchObject({ 'retry-after': '1', 'access-control-allow-origin': '*' });
  });

  test('another method gets 405 with Allow', async () => {
    const { status, headers, text } = await sendHttp(url, { path });
    expect([status, text]).toEqual([405, '']);
    expect(headers).toMatchObject({ allow: 'POST, OPTIONS', 'access-control-allow-origin': '*' });
  });

  test('a malformed request gets the answer of its endpoint', async () => {
    const [head = '', body] = (await sendRaw(`POST ${path} HTTP/1.1\r\nHost: w\r\nno colon\r\n\r\n`)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 .*\r\nAccess-Control-Allow-Origin: \*/s);
    expect(body).toBe('');
  });
});

describe.each(['/api/v1/events', '/api/v1/events/batch', '/api/identify'])(
  '%s of a process that waits at its start, in the shape of the endpoint',
  (path) => {
    const message = expect.any(String);
    const bodyOf = (code: number) =>
      path === '/api/identify' ? { error: message } : { status: 'error', error: { code, message } };

    test('a request with records gets 503 with Retry-After', async () => {
      const { status, headers, json } = await sendHttp(url, { path, body: {} });
      expect([status, headers['retry-after'], json]).toEqual([503, '1', bodyOf(503)]);
    });

    test('another method gets 405 with Allow', async () => {
      const { status, headers, json } = await sendHttp(url, { path });
      expect([status, headers.allow, json]).toEqual([405, 'POST', bodyOf(405)]);
    });
  },
);

test.each(['/api/admin/sites', '/weir.js', '/'])('%s of a process that waits at its start gets 503', async (path) => {
  const { status, headers } = await sendHttp(url, { path });
  expect([status, headers['retry-after']]).toEqual([503, '1']);
});
