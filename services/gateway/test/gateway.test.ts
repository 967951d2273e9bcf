import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@weir/testkit/eventually';
import express from 'express';
import { holdAppends, type RunningGateway, startGateway } from './start-gateway.ts';

let weir: RunningGateway;
let key: string;
let missing: string[] = [];
beforeAll(async () => {
  const router = express.Router();
  router.get('/own', (_request, response) => {
    response.send('own');
  });
  router.get('/broken', () => {
    throw new Error('a bug');
  });
  weir = await startGateway({ routers: [router], ready: async () => missing });
  await weir.makeSite('site_a');
  key = await weir.makeKey('site_a');
});
afterAll(() => weir.close());

/**
 * Sends bytes unchanged, and returns the answer when the connection is closed. If `goAway` is true, closes the connection as soon as the bytes are
 * sent.
 */
async function raw(text: string, { port = weir.port, goAway = false } = {}): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, 'connect');
  socket.write(text, () => {
    if (goAway) socket.destroy();
  });
  await once(socket, 'close');
  return answer;
}
const head = (headers: string, bearer = key) =>
  `POST /api/v1/events HTTP/1.1\r\nHost: w\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: application/json\r\n${headers}\r\n`;

describe('a hostile or broken client', () => {
  it('a slow body is answered with 408', async () => {
    const hasty = await startGateway({ http: { requestTimeoutMs: 400 } });
    await hasty.makeSite('site_a');
    const request = `${head('Content-Length: 100\r\n', await hasty.makeKey('site_a'))}{"name"`;
    expect(await raw(request, { port: hasty.port })).toMatch(/^HTTP\/1\.1 408 /);
    await hasty.close();
  });

  it('headers that are too long are refused', async () => {
    expect(await raw(head(`X-Long: ${'x'.repeat(20_000)}\r\n`))).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('a client that disconnects within its body leaves no waiting request', async () => {
    for (let i = 0; i < 10; i++) await raw(`${head('Content-Length: 100\r\n')}{"name"`, { goAway: true });
    expect(await (await fetch(`${weir.url}/metrics`)).text()).toMatch(/weir_gateway_waiting_requests 0/);
  });

  it('an event is stored even if its client disconnects before the answer', async () => {
    const body = '{"name":"left"}';
    await raw(`${head(`Content-Length: ${body.length}\r\n`)}${body}`, { goAway: true });
    await eventually('stored', async () => (await weir.records()).some((record) => record.body.name === 'left'));
  });

  it('invalid UTF-8 is 400', async () => {
    const response = await fetch(`${weir.url}/api/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: 'error', error: { code: 400, message: 'the body must be valid UTF-8' } },
    ]);
  });
});

describe('other routes and answers', () => {
  it('405 with Allow, and 404, with the error body of the endpoint', async () => {
    const events = await fetch(`${weir.url}/api/v1/events`);
    expect([events.status, events.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await events.json()).toMatchObject({ status: 'error', error: { code: 405 } });
    const identify = await fetch(`${weir.url}/api/identify`, { method: 'OPTIONS' });
    expect([identify.status, await identify.json()]).toEqual([405, { error: expect.any(String) }]);
    for (const path of ['/none', '/api/v1/events//', '/API/v1/events']) {
      expect((await fetch(`${weir.url}${path}`, { method: 'POST' })).status).toBe(404);
    }
  });

  it('the routers of other roles come after those of the gateway; a bug gives 500 and does not end the process', async () => {
    expect(await (await fetch(`${weir.url}/own`)).text()).toBe('own');
    const broken = await fetch(`${weir.url}/broken`);
    expect([broken.status, await broken.json()]).toEqual([
      500,
      { status: 'error', error: { code: 500, message: 'internal error' } },
    ]);
  });

  it('/healthz, /readyz, /metrics, /openapi.json', async () => {
    expect((await fetch(`${weir.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${weir.url}/readyz`)).status).toBe(200);
    missing = ['event log'];
    const unready = await fetch(`${weir.url}/readyz`);
    expect([unready.status, await unready.json()]).toEqual([503, { status: 'not ready', missing: ['event log'] }]);
    missing = [];
    expect(await (await fetch(`${weir.url}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
    for (let hit = 0; hit < 100; hit += 1) weir.proxyDetector.count('site_a', '10.0.0.1', '10.0.0.1');
    const metrics = await fetch(`${weir.url}/metrics`);
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await metrics.text();
    expect(text).toMatch(/weir_http_requests_total\{endpoint="events",status="405"\} 1/);
    // The metrics need no token, so they must not contain data of a site (docs/api.md).
    expect(text).toMatch(/^weir_gateway_crowded_sites 1$/m);
    expect(text).not.toContain('site_a');
  });
});

describe('POST /api/identify', () => {
  const identify = (body: object) =>
    fetch(`${weir.url}/api/identify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('answers 200 with a stable profileId, and with data.warning if traits were dropped', async () => {
    const traits = Object.fromEntries(Array.from({ length: 28 }, (_, i) => [`t${i}`, i]));
    const [first, second] = [
      (await (await identify({ visitor_id: 'v', user_id: 'u' })).json()) as { data: { profileId: string } },
      await (await identify({ visitor_id: 'v', user_id: 'u', ...traits })).json(),
    ];
    expect(first).toEqual({ status: 'success', data: { message: 'User identified', profileId: expect.any(String) } });
    expect(second).toEqual({
      status: 'success',
      data: {
        message: 'User identified',
        profileId: first.data.profileId,
        warning: '3 custom traits beyond the limit of 25 were dropped',
      },
    });
  });

  it('403 {error: "Identify key site mismatch"}, after the body', async () => {
    const mismatch = await identify({ visitor_id: 'v', user_id: 'u', siteId: 'another' });
    expect([mismatch.status, await mismatch.json()]).toEqual([403, { error: 'Identify key site mismatch' }]);
    expect((await identify({ visitor_id: 'v', siteId: 'another' })).status).toBe(400);
  });
});

it('closing finishes the requests in progress and then closes idle connections', async () => {
  const held = holdAppends();
  const own = await startGateway({ wrap: held.wrap });
  await own.makeSite('site_a');
  const socket = connect(own.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, 'connect');
  const body = JSON.stringify({ site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'pageview' });
  socket.write(`POST /api/collect HTTP/1.1\r\nHost: w\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await eventually('it waits', async () =>
    /weir_gateway_waiting_requests 1/.test(await (await fetch(`${own.url}/metrics`)).text()),
  );
  const closed = once(socket, 'close');
  const stopped = own.close();
  held.release();
  await stopped;
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 204 /);
});
