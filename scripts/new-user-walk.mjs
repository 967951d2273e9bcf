// Prints the seconds that a new user needs from `git clone` to each of the first steps (tests/browser/new-user-walk.ts):
// `node --import tsx scripts/new-user-walk.mjs`. Clones this repository into a temporary folder, installs its packages, builds it and
// starts it with `npm start`. Needs Chromium and access to the registry of npm.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../packages/testkit/src/eventually.ts';
import { freePort } from '../packages/testkit/src/free-port.ts';
import { sendHttp } from '../packages/testkit/src/http-client.ts';
import { bareEnv, killGroup } from '../packages/testkit/src/weir-process.ts';
import { walkAsNewUser } from '../tests/browser/new-user-walk.ts';
import { startPageServer } from '../tests/browser/page-server.ts';
import { launchChromium } from '../tests/browser/use-browser.ts';

const READY_WITHIN_MS = 900_000;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'weir-new-user-'));
const began = performance.now();
const print = (name) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${name}`);

const { status } = spawnSync('git', ['clone', '--quiet', root, join(folder, 'weir')], { stdio: 'inherit' });
if (status !== 0) throw new Error('git clone failed');
print('cloned');
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const weir = spawn('npm', ['start'], {
  cwd: join(folder, 'weir'),
  env: bareEnv({ PORT: String(port), HOST: '127.0.0.1' }),
  stdio: ['ignore', 'ignore', 'inherit'],
  detached: true,
});
let site;
let browser;
try {
  await eventually(
    'Weir to be ready',
    async () => {
      if (weir.exitCode !== null) throw new Error(`npm start ended with ${weir.exitCode}`);
      return (await sendHttp(url, { path: '/readyz', timeoutMs: 2_000 })).status === 200;
    },
    READY_WITHIN_MS,
  );
  print('installed, built and ready');
  const token = readFileSync(join(folder, 'weir/data/admin-token'), 'utf8').trim();
  site = await startPageServer();
  browser = await launchChromium();
  const page = await (await browser.newContext({ locale: 'en' })).newPage();
  await walkAsNewUser({ page, url, token, site, onStep: print });
} finally {
  await browser?.close();
  await site?.close();
  killGroup(weir);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
