import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSnippetRoutes } from '../src/http/snippet-routes.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

const publicDir = mkdtempSync(join(tmpdir(), 'weir-snippet-'));
let weir: RunningGateway;
beforeAll(async () => {
  writeFileSync(join(publicDir, 'weir.js'), 'weir');
  weir = await startGateway({ routers: [createSnippetRoutes(publicDir)] });
  await weir.makeSite('site_a');
});
afterAll(async () => {
  await weir.close();
  rmSync(publicDir, { recursive: true });
});

/** Sends a hit with headers of browsers. It does not use fetch, because fetch adds headers of its own. */
function collect(name: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const hit = { site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'event', event_name: name };
  return new Promise((resolve, reject) => {
    const sent = request(`${weir.url}/api/collect`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(JSON.stringify(hit));
  });
}

describe('Client Hints are requested with the snippet and stored if they are sent', () => {
  test('the snippet asks for model, versions and form factor; any origin can read it, without credentials', async () => {
    const { headers } = await fetch(`${weir.url}/weir.js`);
    const asked = (headers.get('accept-ch') ?? '').toLowerCase().split(', ');
    expect(asked).toEqual(
      expect.arrayContaining(['sec-ch-ua-full-version-list', 'sec-ch-ua-platform-version', 'sec-ch-ua-model']),
    );
    expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([
      '*',
      null,
    ]);
  });

  test('the record has the hints that the browser sent, cut to 255 chars; without hints the field is absent', async () => {
    const hints = {
      'sec-ch-ua': '"Chromium";v="126", "Brave";v="126"',
      'sec-ch-ua-mobile': '?1',
      'sec-ch-ua-platform': '"Android"',
      'sec-ch-ua-platform-version': '"14.0.0"',
      'sec-ch-ua-model': '"Pixel 8"',
      'sec-ch-ua-full-version-list': '"Brave";v="126.0.0.1"',
    };
    expect(await collect('hinted', { ...hints, 'sec-ch-ua-form-factors': `"${'x'.repeat(300)}"` })).toBe(204);
    expect(await collect('bare', { 'sec-ch-prefers-color-scheme': 'dark' })).toBe(204);
    const records = await weir.records();
    const hinted = records.find((record) => record.body.event_name === 'hinted')?.clientHints ?? {};
    expect(hinted).toMatchObject(hints);
    expect(hinted['sec-ch-ua-form-factors']).toHaveLength(255);
    expect(records.find((record) => record.body.event_name === 'bare')).not.toHaveProperty('clientHints');
  });

  test('OPTIONS allows only Content-Type: Client Hints need no permission, because the browser itself adds them', async () => {
    const { status, headers } = await fetch(`${weir.url}/api/collect`, { method: 'OPTIONS' });
    expect([status, headers.get('access-control-allow-headers')?.toLowerCase()]).toEqual([204, 'content-type']);
  });
});
