import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { bareApp } from '@weir/gateway/http/mount-routes';
import { type HttpServer, startHttpServer } from '@weir/runtime/http/http-server';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { openSocket, sendHttp } from '@weir/testkit/http-client';
import type { Request, Response } from 'express';
import { createForward } from '../src/gateways/forward-request.ts';
import { type ForwardedServer, startForwardedServer } from '../src/gateways/forwarded-server.ts';

const logger = createLogger('silent');
const refuse = (): never => {
  throw new Error('no request of these tests is refused');
};

let main: ForwardedServer;
let front: HttpServer;
let url = '';
let answer: (request: Request, response: Response) => void;

beforeEach(async () => {
  const app = bareApp();
  app.use((request, response) => answer(request, response));
  main = await startForwardedServer({ app, refuse }, logger);
  const forward = createForward(main.path);
  const gateway = bareApp();
  gateway.use(forward);
  front = await startHttpServer({ app: gateway, refuse, host: '127.0.0.1', port: 0, logger });
  url = `http://127.0.0.1:${front.port}`;
});
afterEach(async () => {
  await front.close(1_000);
  await main.close(1_000);
});

test('method, target, headers, body and the address of the client arrive; status, headers and body come back', async () => {
  answer = (request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      const { method, url: target, headers, socket } = request;
      response.writeHead(418, 'I am a teapot', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Own', 'c']);
      const { host, 'x-a': own, 'x-weir-peer': peer = null, 'x-forwarded-for': forwardedFor } = headers;
      response.end(
        JSON.stringify({ method, target, host, own, peer, forwardedFor, body, address: socket.remoteAddress }),
      );
    });
  };
  const headers = { 'x-a': 'ü', 'x-weir-peer': '203.0.113.9', 'x-forwarded-for': '203.0.113.8', host: 'weir.example' };
  const got = await sendHttp(url, { method: 'PATCH', path: '/a%20b?c=d&e', headers, body: 'text' });
  expect(got.status).toBe(418);
  expect(got.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(got.headers['x-own']).toBe('c');
  expect(got.json).toEqual({
    method: 'PATCH',
    target: '/a%20b?c=d&e',
    host: 'weir.example',
    own: 'ü',
    peer: null,
    forwardedFor: '203.0.113.8',
    body: 'text',
    address: '127.0.0.1',
  });
});

test.each(['GET', 'HEAD', 'POST', 'DELETE'])('%s without a body', async (method) => {
  answer = (request, response) => {
    request.resume().on('end', () => response.setHeader('X-Method', request.method).end('four'));
  };
  const got = await sendHttp(url, { method, path: '/' });
  expect([got.status, got.headers['x-method'], got.text]).toEqual([200, method, method === 'HEAD' ? '' : 'four']);
});

test('the gateway process closes the connection to the main process, and only after the answer', async () => {
  let isKept = false;
  let closed: Promise<unknown> | undefined;
  answer = (request, response) => {
    isKept = response.shouldKeepAlive;
    closed = once(request.socket, 'close');
    response.status(409).end('taken');
  };
  const got = await sendHttp(url, { method: 'POST', path: '/', body: '{}' });
  expect([got.status, got.text, isKept]).toEqual([409, 'taken', true]);
  await closed;
});

test('a next request of the connection is answered after one that was answered before its whole body arrived', async () => {
  answer = (_, response) => response.status(401).end('no key');
  const body = 'x'.repeat(1_000_000);
  const socket = openSocket(url).setEncoding('latin1');
  let got = '';
  socket.on('data', (text: string) => {
    got += text;
  });
  socket.write(`POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  socket.write('GET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  expect(got.match(/HTTP\/1\.1 \d+|no key/g)).toEqual(['HTTP/1.1 401', 'no key', 'HTTP/1.1 401', 'no key']);
});

test('large bodies pass in both directions, with and without a length', async () => {
  answer = (request, response) => void request.pipe(response);
  const body = Buffer.alloc(3_000_000, 'weir ');
  const digest = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  for (const chunked of [false, true]) {
    const got = await sendHttp(url, { path: '/', body, chunked });
    expect(digest(got.text)).toBe(digest(body));
  }
});

test('the head and each part of a stream are passed on at once, and the main process sees that the client is gone', async () => {
  let closed = false;
  let sent: Response | undefined;
  answer = (_, response) => {
    sent = response;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    response.once('close', () => {
      closed = true;
    });
  };
  const socket = openSocket(url).setEncoding('latin1');
  let text = '';
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually('the head', () => text.includes('text/event-stream'));
  sent?.write('data: 1\n\n');
  await eventually('the first part', () => text.includes('data: 1'));
  expect(closed).toBe(false);
  socket.destroy();
  await eventually('the end of the response', () => closed);
});

test('an answer that does not read the body arrives', async () => {
  answer = (_, response) => void response.writeHead(401).end('no');
  const got = await sendHttp(url, { path: '/', body: Buffer.alloc(10_000_000) });
  expect([got.status, got.text]).toEqual([401, 'no']);
});

test('HTTP/1.0 without a host, and CONNECT', async () => {
  answer = (request, response) => void response.end(`host "${request.headers.host}"`);
  for (const [sent, expected] of [
    ['GET / HTTP/1.0\r\n\r\n', 'host ""'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 'no such path'],
  ] as const) {
    const socket = openSocket(url).setEncoding('latin1');
    let text = '';
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.write(sent);
    await once(socket, 'close');
    expect(text).toContain(expected);
  }
});

test('503 while the main process does not answer; an answer that breaks off closes the connection', async () => {
  answer = (request) => void request.socket.destroy();
  const got = await sendHttp(url, { path: '/' });
  expect([got.status, got.headers['retry-after']]).toEqual([503, '1']);
  expect(got.json).toEqual({ status: 'error', error: { code: 503, message: expect.stringContaining('main process') } });
  answer = (request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('half', () => request.socket.destroy());
  };
  await expect(sendHttp(url, { path: '/' })).rejects.toThrow();
});
