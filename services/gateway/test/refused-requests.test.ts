import { once } from 'node:events';
import { connect } from 'node:net';
import { type RunningGateway, startGateway } from './start-gateway.ts';

let weir: RunningGateway;
/** A gateway with a short request timeout. It is long enough that a slow machine reads the header of a complete request in time. */
let hasty: RunningGateway;
let key: string;
beforeAll(async () => {
  hasty = await startGateway({ http: { requestTimeoutMs: 2_000, headersTimeoutMs: 2_000 } });
  await hasty.makeSite('site_a');
  weir = await startGateway({
    config: { collectPaths: ['/t/hit'], rateLimits: { collect: 1000, events: 2, identify: 1000 } },
  });
  await weir.makeSite('site_a');
  key = await weir.makeKey('site_a');
});
afterAll(() => Promise.all([weir.close(), hasty.close()]));

/** Sends bytes unchanged, and returns the answer when the other side has closed the connection. */
const raw = (...parts: readonly string[]): Promise<string> => rawTo(weir, parts);

async function rawTo({ port }: RunningGateway, parts: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.on('end', () => socket.end());
  await once(socket, 'connect');
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await once(socket, 'close');
  return answer;
}

interface Answer {
  readonly status: number;
  readonly cors: boolean;
  readonly allow: string | undefined;
  readonly body: unknown;
}

/** Splits the bytes that a connection received into answers. */
function answersOf(text: string): Answer[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => !part.startsWith('HTTP/1.1 100'))
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n');
      expect(head).toMatch(/\r\nContent-Length: \d+(\r\n|$)/);
      return {
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
        cors: /\r\nAccess-Control-Allow-Origin: \*(\r\n|$)/.test(head),
        allow: /\r\nAllow: ([^\r]*)/.exec(head)?.[1],
        body: body === '' ? '' : (JSON.parse(body) as unknown),
      };
    });
}
const only = (...parts: readonly string[]): Promise<Answer> => onlyOf(weir, ...parts);

async function onlyOf(gateway: RunningGateway, ...parts: readonly string[]): Promise<Answer> {
  const answers = answersOf(await rawTo(gateway, parts));
  expect(answers).toHaveLength(1);
  return answers[0] as Answer;
}

const envelope = (status: number) => ({
  cors: false,
  body: { status: 'error', error: { code: status, message: expect.any(String) } },
});
const shapes = [
  ['/api/v1/events', envelope],
  ['/api/v1/events?a=b', envelope],
  ['http://weir.example/api/v1/events', envelope],
  ['/api/identify', () => ({ cors: false, body: { error: expect.any(String) } })],
  ['/api/collect', () => ({ cors: true, body: '' })],
  ['/t/hit', () => ({ cors: true, body: '' })],
  ['/none', envelope],
] as const;

describe("errors of Node's HTTP parser have the body shape of the endpoint (collect: no body)", () => {
  const cases: readonly (readonly [string, number, (path: string) => string])[] = [
    ['headers too large', 431, (path) => `POST ${path} HTTP/1.1\r\nHost: w\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a request line too large', 431, (path) => `POST ${path}?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: w\r\n\r\n`],
    ['a broken header', 400, (path) => `POST ${path} HTTP/1.1\r\nHost: w\r\nno colon\r\n\r\n`],
    [
      'two lengths',
      400,
      (path) => `POST ${path} HTTP/1.1\r\nHost: w\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    ],
    ['no Host', 400, (path) => `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`],
  ];
  describe.each(cases)('%s', (_, status, request) => {
    test.each(shapes)('%s', async (path, shape) => {
      expect(await only(request(path))).toMatchObject({ status, ...shape(status) });
    });
  });

  test('after an answered request on the same connection, also in the same packet', async () => {
    const good = 'GET /healthz HTTP/1.1\r\nHost: w\r\n\r\n';
    const broken = 'POST /api/collect HTTP/1.1\r\nHost: w\r\nno colon\r\n\r\n';
    const both = [
      { status: 200, cors: false },
      { status: 400, cors: true, body: '' },
    ];
    expect(answersOf(await raw(good + broken))).toMatchObject(both);
    expect(answersOf(await raw(good, broken))).toMatchObject(both);
  });

  test('an event in progress is answered before the malformed request that follows it', async () => {
    const own = await weir.makeKey('site_a');
    const body = '{"name":"before"}';
    const event = `POST /api/v1/events HTTP/1.1\r\nHost: w\r\nAuthorization: Bearer ${own}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(answersOf(await raw(`${event}garbage\r\n\r\n`))).toMatchObject([{ status: 202 }, { status: 400 }]);
  });

  test('if the path is not known, browsers can read the answer, because the request can be a collect hit', async () => {
    const unknown = (status: number) => ({ status, ...envelope(status), cors: true });
    expect(await onlyOf(hasty, 'POST /api/identify HTTP/1.1\r\nHost: w\r\n')).toMatchObject(unknown(408));

    const socket = connect({ port: weir.port, host: '127.0.0.1', allowHalfOpen: true });
    const answers: string[] = [];
    socket.on('data', (chunk: Buffer) => answers.push(chunk.toString()));
    socket.write('GET /healthz HTTP/1.1\r\nHost: w\r\n\r\nPOST /api/collect HTTP/1.1\r\nHost: w\r\n');
    // The answer to the first request shows that the gateway has read the request line of the second one.
    await once(socket, 'data');
    socket.end('no colon\r\n\r\n');
    await once(socket, 'end');
    expect(answersOf(answers.join(''))).toMatchObject([{ status: 200 }, unknown(400)]);
  });

  const withKey = (bearer = key) => `Host: w\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: application/json\r\n`;

  test('408: a body that does not end', async () => {
    const bearer = await hasty.makeKey('site_a');
    const send = (path: string) =>
      onlyOf(hasty, `POST ${path} HTTP/1.1\r\n${withKey(bearer)}Content-Length: 9\r\n\r\n{`);
    expect(await send('/api/identify')).toMatchObject({ status: 408, body: { error: expect.any(String) } });
    expect(await send('/api/collect')).toMatchObject({ status: 408, cors: true, body: '' });
  });

  test('400: a body with malformed chunks; the key (401) and the rate limit (429) are checked first', async () => {
    const head = (path: string, headers: string) =>
      `POST ${path} HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
    expect(await only(head('/api/identify', withKey()))).toMatchObject({
      status: 400,
      body: { error: expect.any(String) },
    });
    expect(await only(head('/api/collect', 'Host: w\r\n'))).toMatchObject({ status: 400, cors: true, body: '' });
    expect(await only(head('/api/identify', 'Host: w\r\n'))).toMatchObject({ status: 401 });
    for (const status of [400, 400, 429, 429]) {
      expect(await only(head('/api/v1/events', withKey()))).toMatchObject({ status });
    }
  });
});

describe('an unknown method on a known path: 405 with `Allow`', () => {
  test.each(['FOO', 'CONNECT'])('%s', async (method) => {
    const ask = (path: string) => only(`${method} ${path} HTTP/1.1\r\nHost: w\r\n\r\n`);
    expect(await ask('/api/v1/events')).toMatchObject({ status: 405, allow: 'POST', ...envelope(405) });
    expect(await ask('/api/identify')).toMatchObject({
      status: 405,
      allow: 'POST',
      body: { error: expect.any(String) },
    });
    expect(await ask('/api/collect')).toMatchObject({ status: 405, allow: 'POST, OPTIONS', cors: true, body: '' });
    expect([400, 404]).toContain((await ask('/none')).status);
  });
});

test('an unknown value of the header Expect is ignored', async () => {
  const answer = await only(
    'POST /api/collect HTTP/1.1\r\nHost: w\r\nConnection: close\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}',
  );
  expect(answer).toMatchObject({ status: 400, cors: true, body: '' });
});

test('a request target that is not a valid URL gets 404', async () => {
  for (const target of ['http://a:b/x', 'http://a:99999999/x', '*', '//a:b/x', '/x#http://a:b/']) {
    const ask = `OPTIONS ${target} HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n`;
    expect(await only(ask)).toMatchObject({ status: 404, ...envelope(404) });
  }
});

test('a client that sends the rest of its body after the last answer sees the answer, and no reset', async () => {
  const socket = connect({ port: weir.port, host: '127.0.0.1', allowHalfOpen: true });
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  const rest = 'x'.repeat(50_000);
  socket.write(
    `POST /none HTTP/1.1\r\nHost: w\r\nConnection: close\r\nContent-Length: ${2 * rest.length}\r\n\r\n${rest}`,
  );
  await once(socket, 'end');
  expect(answersOf(answer)).toMatchObject([{ status: 404 }]);
  // If the server answers the first of these writes with a reset, the second one fails.
  for (const part of [rest.slice(0, 1_000), rest.slice(1_000)]) {
    await new Promise((resolve) => socket.write(part, resolve));
  }
  socket.end();
  await once(socket, 'close');
  expect(errors).toEqual([]);
});
