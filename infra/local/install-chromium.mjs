// Debian's Chromium for tests/browser, where CI starts on a machine without it.
import { existsSync } from 'node:fs';
import { aptInstall } from './apt-install.mjs';

export const CHROMIUM = '/usr/bin/chromium';

export function installChromium() {
  if (!existsSync(CHROMIUM)) aptInstall(['chromium']);
}

if (process.argv[1]?.endsWith('install-chromium.mjs')) installChromium();
