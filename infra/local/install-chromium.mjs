// Debian's Chromium for tests/browser, where CI starts on a machine without it. Needs root, as CI has.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

export const CHROMIUM = '/usr/bin/chromium';

export function installChromium() {
  if (existsSync(CHROMIUM)) return;
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', 'chromium'],
  ]) {
    const { status } = spawnSync('apt-get', args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) throw new Error(`apt-get ${args.join(' ')} ended with ${status}`);
  }
}

if (process.argv[1]?.endsWith('install-chromium.mjs')) installChromium();
