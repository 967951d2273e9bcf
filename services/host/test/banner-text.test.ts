import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { sendHttp } from '@weir/testkit/http-client';
import { startWeir } from '../src/startup/start-weir.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'weir-banner-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

test('the banner shows a dashboard URL that can be opened, also when HOST is 0.0.0.0, and the public address in examples', async () => {
  let printed = '';
  const weir = startWeir({
    config: loadConfig({
      ...{ HOST: '0.0.0.0', PORT: '0', WEIR_DATA_DIR: dataDir },
      WEIR_PUBLIC_URL: 'https://events.example.com/',
    }),
    roles: ['gateway', 'enricher', 'writer', 'control'],
    logger: createLogger('silent'),
    clock: Date.now,
    print: (text) => {
      printed += text;
    },
  });
  await weir.started;
  const url = /dashboard {4}(\S+)/.exec(printed)?.[1] ?? '';
  expect(url).not.toContain('0.0.0.0');
  expect((await sendHttp(url, { path: '/dashboard' })).status).toBe(200);
  expect(printed).toContain('src="https://events.example.com/weir.js"');
  expect(printed).toContain('curl -X POST https://events.example.com/api/v1/events');
  await weir.close();
});
