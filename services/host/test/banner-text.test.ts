import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { sendHttp } from '@weir/testkit/http-client';
import { bannerText } from '../src/startup/banner-text.ts';
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

test.each([
  ['http://127.0.0.1:8080', resolve('data'), 'See its row:\n  npm run'],
  ['http://127.0.0.1:9000', resolve('data'), 'See its row:\n  WEIR_URL=http://127.0.0.1:9000 npm run'],
  ['http://[::1]:8080', '/srv/weir', "See its row:\n  WEIR_URL='http://[::1]:8080' WEIR_DATA_DIR=/srv/weir npm run"],
  ['http://127.0.0.1:8080', "/srv/Ada's data", "See its row:\n  WEIR_DATA_DIR='/srv/Ada'\\''s data' npm run"],
  ['http://127.0.0.1:8080', undefined, 'See its row (first set WEIR_ADMIN_TOKEN as for this Weir):\n  npm run'],
])('the command that shows the row can be copied: %s, data folder %s', (baseUrl, tokenFolder, hint) => {
  const facts = { baseUrl, tokenFolder, publicUrl: undefined, demoKey: 'wk_1', newAdminToken: undefined };
  expect(bannerText({ ...facts, hasDashboard: true })).toContain(
    `\n${hint} -s weir -- sql 'SELECT event_name, value, timestamp FROM events'\n`,
  );
  // Without the role control, this process does not answer the command.
  expect(bannerText({ ...facts, hasDashboard: false })).not.toContain('See its row');
});
