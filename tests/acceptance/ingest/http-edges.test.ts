import { once } from 'node:events';
import { openSocket } from '@weir/testkit/http-client';
import { ACCEPTED, expectEnvelope, expectIdentifyError, expectJson, expectNoBody } from '../expect-answers.ts';
import { describeOwnProcess, useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

const hit = (fields: object = {}) => ({ site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', ...fields });
const LIMIT_BYTES = 65_536;
/** Returns a JSON body of exactly `bytes` bytes. Spaces at its end fill it up; they count as part of the body. */
const ofBytes = (body: object, bytes: number) => JSON.stringify(body).padEnd(bytes, ' ');

describe('errors have the format of their endpoint', () => {
  const notJson: readonly (readonly [string, string | Buffer])[] = [
    ['an empty body', ''],
    ['malformed JSON', '{"name":"x"'],
    ['a trailing comma', '{"name":"x",}'],
    ['two values', '{"name":"x"}{}'],
    ['an array', '[{"name":"x"}]'],
    ['a string', '"name"'],
    ['a number', '5'],
    ['null', 'null'],
    ['true', 'true'],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['cut UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xe2, 0x82, ...Buffer.from('"}')])],
    ['a UTF-8 surrogate', Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')])],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
  ];

  test.each(notJson)('400: %s', async (_, body) => {
    expectEnvelope(await weir.events(key, body), 400);
    expectIdentifyError(await weir.identify(key, body), 400);
    expectNoBody(await weir.collect(body), 400);
  });
});

describe('a body over 64 KiB is 413', () => {
  test('a body of exactly 64 KiB is accepted', async () => {
    expectJson(await weir.events(key, ofBytes({ name: 'x' }, LIMIT_BYTES)), 202, ACCEPTED);
    expect((await weir.identify(key, ofBytes({ visitor_id: 'v', user_id: 'u' }, LIMIT_BYTES))).status).toBe(200);
    expectNoBody(await weir.collect(ofBytes(hit(), LIMIT_BYTES)), 204);
  });

  test('a body of one byte more gets 413', async () => {
    expectEnvelope(await weir.events(key, ofBytes({ name: 'x' }, LIMIT_BYTES + 1)), 413);
    expectIdentifyError(await weir.identify(key, ofBytes({ visitor_id: 'v', user_id: 'u' }, LIMIT_BYTES + 1)), 413);
    expectNoBody(await weir.collect(ofBytes(hit(), LIMIT_BYTES + 1)), 413);
  });

  test('without a Content-Length', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const send = (path: string, body: object, bytes: number) =>
      weir.send({ path, headers, body: ofBytes(body, bytes), chunked: true });
    expectJson(await send('/api/v1/events', { name: 'x' }, LIMIT_BYTES), 202, ACCEPTED);
    expectEnvelope(await send('/api/v1/events', { name: 'x' }, LIMIT_BYTES + 1), 413);
    expectIdentifyError(await send('/api/identify', {}, LIMIT_BYTES + 1), 413);
    expectNoBody(await send('/api/collect', hit(), LIMIT_BYTES + 1), 413);
  });
});

describe('a path that exists with another method is 405 with Allow', () => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE'])('%s', async (method) => {
    const [events, identify, collect] = [
      await weir.send({ method, path: '/api/v1/events' }),
      await weir.send({ method, path: '/api/identify' }),
      await weir.send({ method, path: '/api/collect' }),
    ];
    expectEnvelope(events, 405);
    expectIdentifyError(identify, 405);
    expectNoBody(collect, 405);
    for (const answer of [events, identify, collect]) expect(answer.headers.allow).toMatch(/\bPOST\b/);
    expect(collect.headers.allow).toMatch(/\bOPTIONS\b/);
  });

  test.each(['/api/v1/events', '/api/v1/events/batch', '/api/identify', '/api/collect'])('HEAD %s', async (path) => {
    const { status, headers, text } = await weir.send({ method: 'HEAD', path });
    expect([status, headers.allow, text]).toEqual([405, expect.stringMatching(/\bPOST\b/), '']);
  });

  test('OPTIONS on events and identify', async () => {
    expectEnvelope(await weir.send({ method: 'OPTIONS', path: '/api/v1/events' }), 405);
    expectIdentifyError(await weir.send({ method: 'OPTIONS', path: '/api/identify' }), 405);
  });

  test.each([
    ['PUT', '/sites', 'GET, POST, HEAD'],
    ['GET', '/sql', 'POST'],
    ['GET', '/sites/any/exclusions/any', 'DELETE'],
  ])('%s on %s of the admin API', async (method, path, allow) => {
    const answer = await weir.admin(method, path);
    expectEnvelope(answer, 405);
    expect(answer.headers.allow).toBe(allow);
  });
});

describe('an unknown path is 404', () => {
  test.each([
    '/api/v1/event',
    '/api/v2/events',
    '/api',
    '/api/v1/events/x',
    '/api/admin/nothing',
    '/%zz',
    '/..%2f..%2fetc/passwd',
  ])('%s', async (path) => {
    expect([400, 404]).toContain(
      (await weir.send({ path, body: {}, headers: { authorization: `Bearer ${weir.adminToken}` } })).status,
    );
  });

  test('other unknown paths get 404', async () => {
    expect((await weir.send({ path: '/api/v2/events', body: {} })).status).toBe(404);
    expect((await weir.send({ path: '/no/such/path' })).status).toBe(404);
  });
});

describe('a trailing slash makes no difference', () => {
  test('on each endpoint, and on a path of COLLECT_PATHS', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const post = (path: string, body: object) => weir.send({ path, headers, body });
    expectJson(await post('/api/v1/events/', { name: 'x' }), 202, ACCEPTED);
    expectJson(await post('/api/v1/events/?a=b', { name: 'x' }), 202, ACCEPTED);
    expect((await post('/api/v1/events/batch/', { events: [{ name: 'x' }] })).status).toBe(200);
    expect((await post('/api/identify/', { visitor_id: 'v', user_id: 'u' })).status).toBe(200);
    expectNoBody(await post('/api/collect/', hit()), 204);
    expectNoBody(await post('/measure/', hit()), 204);
  });

  test('for errors, other methods and OPTIONS, in the shape of the endpoint', async () => {
    expectEnvelope(await weir.send({ path: '/api/v1/events/', body: {} }), 401);
    expectIdentifyError(await weir.send({ path: '/api/identify/', body: {} }), 401);
    expectNoBody(await weir.send({ path: '/api/collect/', body: {} }), 400);
    for (const path of ['/api/v1/events/', '/api/v1/events/batch/']) {
      const answer = await weir.send({ method: 'GET', path });
      expectEnvelope(answer, 405);
      expect(answer.headers.allow).toBe('POST');
    }
    expectIdentifyError(await weir.send({ method: 'OPTIONS', path: '/api/identify/' }), 405);
    const [collect, preflight] = [
      await weir.send({ method: 'PUT', path: '/api/collect/' }),
      await weir.send({ method: 'OPTIONS', path: '/api/collect/' }),
    ];
    expectNoBody(collect, 405);
    expectNoBody(preflight, 204);
    expect(collect.headers.allow).toMatch(/OPTIONS/);
    expect(preflight.headers['access-control-allow-methods']).toMatch(/POST/);
  });

  test('two trailing slashes are a different path', async () => {
    expect((await weir.send({ path: '/api/v1/events//', body: {} })).status).toBe(404);
    expect((await weir.send({ path: '/api/collect//', body: {} })).status).toBe(404);
  });
});

describe('a hostile or broken client', () => {
  const post = (headers: string, body: string) =>
    `POST /api/v1/events HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;

  test('clients that disconnect in the middle of a body do not affect other requests', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = openSocket(weir.urls[0] ?? '');
      await once(socket, 'connect');
      socket.write(post('Content-Length: 1000\r\n', '{"name":"gone"'), () => socket.destroy());
      await once(socket, 'close');
    }
    expectJson(await weir.events(key, { name: 'x' }), 202, ACCEPTED);
  });

  test.each([
    ['/api/v1/events', /\r\n\r\n\{"status":"error","error":\{"code":431,"message":"[^"]+"\}\}$/],
    ['/api/identify', /\r\n\r\n\{"error":"[^"]+"\}$/],
    ['/api/identify/', /\r\n\r\n\{"error":"[^"]+"\}$/],
    ['/api/collect', /\r\nAccess-Control-Allow-Origin: \*\r\n.*\r\n\r\n$/s],
  ])('headers without end are refused, in the shape of the endpoint: %s', async (path, shape) => {
    const socket = openSocket(weir.urls[0] ?? '');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(post(`X-Long: ${'x'.repeat(200_000)}\r\n`, '').replace('/api/v1/events', path));
    await closed;
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(text).toMatch(shape);
    expectJson(await weir.events(key, { name: 'x' }), 202, ACCEPTED);
  });

  test('a body with a wrong encoding or type gets 400 and does not crash the process', async () => {
    const answer = await weir.events(key, Buffer.from([0x1f, 0x8b, 1, 2, 3]), { 'content-encoding': 'gzip' });
    expectEnvelope(answer, 400);
  });
});

describe('answers contain nothing about other sites or about the internals of Weir', () => {
  test('no answer names the software or contains a stack trace', async () => {
    const answers = [await weir.events(key, '{'), await weir.identify(key, '{'), await weir.send({ path: '/no' })];
    for (const answer of answers) {
      expect(answer.headers['x-powered-by']).toBeUndefined();
      expect(answer.text).not.toMatch(/node_modules|at .*\.(js|ts):\d+/);
    }
  });
});

async function refusesOtherMethods(path: string): Promise<void> {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, headers, json } = await weir.send({ method, path });
    expect({ method, status, allow: headers.allow, json }).toEqual({
      method,
      status: 405,
      allow: 'GET, HEAD',
      json: { status: 'error', error: { code: 405, message: expect.any(String) } },
    });
  }
}

describe('a known path with another method gets 405 with Allow', () => {
  test.each(['/healthz', '/readyz', '/metrics', '/openapi.json', '/weir.js', '/demo'])('%s', refusesOtherMethods);
});

describeOwnProcess('the dashboard with another method gets 405 with Allow', () => {
  test.each(['/', '/dashboard', '/dashboard/dashboard.js'])('%s', refusesOtherMethods);
});
