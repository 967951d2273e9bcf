import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import { createSnippetRoutes } from '../src/http/snippet-routes.ts';

const CODE = '(()=>{window.weir={}})()'.repeat(20);

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

describe('GET /weir.js and /demo', () => {
  const publicDir = mkdtempSync(join(tmpdir(), 'weir-public-'));
  mkdirSync(join(publicDir, 'demo'));
  writeFileSync(join(publicDir, 'weir.js'), CODE);
  writeFileSync(join(publicDir, 'weir.mjs'), 'export {}');
  writeFileSync(join(publicDir, 'demo/index.html'), '<h1>Demo</h1>');
  writeFileSync(join(publicDir, 'demo/pricing.html'), '<h1>Pricing</h1>');
  writeFileSync(join(publicDir, '.secret'), 'no');
  const server = express().use(createSnippetRoutes(publicDir)).listen(0, '127.0.0.1');
  beforeAll(async () => {
    if (!server.listening) await once(server, 'listening');
  });
  afterAll(() => {
    server.close();
    rmSync(publicDir, { recursive: true });
  });

  // These requests do not use fetch, which would decompress the body.
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      });
      sent.on('error', reject).end();
    });

  test('the script: its type, its access for any origin, and its caching time', async () => {
    const { status, headers, body } = await get('/weir.js');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400',
      vary: 'Accept-Encoding',
    });
    expect(String(body)).toBe(CODE);
    expect((await get('/weir.mjs')).headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  test('the script is compressed if the client accepts that; both forms have one ETag, and a known ETag gets 304', async () => {
    const plain = await get('/weir.js');
    const gzip = await get('/weir.js', { 'accept-encoding': 'gzip, br' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(String(gunzipSync(gzip.body))).toBe(CODE);
    expect(gzip.headers.etag).toBe(plain.headers.etag);
    const again = await get('/weir.js', { 'if-none-match': String(plain.headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await get('/weir.js', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('the demo pages: with and without .html, not cached, with a strict content security policy', async () => {
    for (const [path, text] of [
      ['/demo', 'Demo'],
      ['/demo/', 'Demo'],
      ['/demo/pricing', 'Pricing'],
      ['/demo/pricing.html', 'Pricing'],
    ] as const) {
      const { status, headers, body } = await get(path);
      expect([path, status, String(body)]).toEqual([path, 200, `<h1>${text}</h1>`]);
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('other files inside or outside the folder are not served', async () => {
    for (const path of ['/.secret', '/demo/../.secret', '/..%2f..%2fetc%2fpasswd', '/weir.js/x']) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });
});
