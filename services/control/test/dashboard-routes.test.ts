import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { dashboardRoutes } from '@weir/control/web/dashboard-routes';
import { type HttpAnswer, sendHttp } from '@weir/testkit/http-client';
import express from 'express';

const PAGE = '<!doctype html><title>Weir</title>';
const SCRIPT = 'console.log("weir");'.repeat(50);
const folder = mkdtempSync(join(tmpdir(), 'weir-dashboard-'));
let server: Server;
let url = '';

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  for (const [path, text] of [
    ['index.html', PAGE],
    ['assets/main-Ab12.js', SCRIPT],
    ['assets/world-Cd34.json', '{}'],
  ] as const) {
    writeFileSync(join(folder, path), text);
    if (path.endsWith('.json')) continue;
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text));
  }
  const router = express.Router({ caseSensitive: true });
  dashboardRoutes(router, folder);
  server = createServer(express().use(router));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<HttpAnswer> =>
  sendHttp(url, { method, path, headers });

test.each(['/dashboard', '/dashboard/', '/dashboard/sites/demo/overview?period=7d', '/dashboard/index.html'])(
  '%s is the page, which a browser asks for again each time',
  async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, text, headers['content-type']]).toEqual([200, PAGE, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-cache');
    const again = await get(path, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  },
);

test('a file with a hash in its name is cached for a year', async () => {
  const { status, headers, text } = await get('/dashboard/assets/main-Ab12.js');
  expect([status, text]).toEqual([200, SCRIPT]);
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test.each([
  ['gzip, deflate, br', 'br', brotliCompressSync(SCRIPT).length],
  ['gzip', 'gzip', gzipSync(SCRIPT).length],
  ['br;q=0, gzip;q=0.5', 'gzip', gzipSync(SCRIPT).length],
  ['identity', undefined, SCRIPT.length],
  ['', undefined, SCRIPT.length],
])('Accept-Encoding %p gets the variant %p', async (accepted, encoding, bytes) => {
  const { headers } = await get('/dashboard/assets/main-Ab12.js', { 'accept-encoding': accepted });
  expect([headers['content-encoding'], headers['content-length']]).toEqual([encoding, String(bytes)]);
  expect(headers.vary).toBe('Accept-Encoding');
});

test('a file without variants is sent as it is', async () => {
  const { headers, text } = await get('/dashboard/assets/world-Cd34.json', { 'accept-encoding': 'br' });
  expect([headers['content-encoding'], text]).toEqual([undefined, '{}']);
});

test('HEAD answers like GET, without the body', async () => {
  const { status, headers, text } = await get('/dashboard/assets/main-Ab12.js', {}, 'HEAD');
  expect([status, text, headers['content-length']]).toEqual([200, '', String(SCRIPT.length)]);
});

test.each([
  '/dashboard/assets/main-none.js',
  '/dashboard/assets/../../package.json',
  '/dashboard/assets/%2e%2e/%2e%2e/package.json',
  '/dashboard/assets/main-Ab12.js.br',
])('%s is 404', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test('no other page can frame the dashboard, open it in a shared group, or load its files', async () => {
  for (const path of ['/', '/dashboard', '/dashboard/assets/main-Ab12.js', '/dashboard/assets/none.js']) {
    const { headers } = await get(path);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'same-origin']);
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['set-cookie']).toBeUndefined();
  }
});

test.each(['/', '/dashboard', '/dashboard/sites/demo', '/dashboard/assets/main-Ab12.js'])(
  '%s with another method is 405',
  async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await get(path, {}, method);
      expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
  },
);

test.each(['/', '/?next=//example.com', '/?url=https://example.com'])(
  'the redirect of %s leads to the dashboard, never to another host',
  async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.location]).toEqual([302, '/dashboard']);
  },
);
