// Installs Debian's Chromium for tests/browser.
import { existsSync } from 'node:fs';
import { aptInstall } from './installed.mjs';

export function installChromium() {
  if (!existsSync('/usr/bin/chromium')) aptInstall(['chromium']);
}

if (process.argv[1]?.endsWith('install-chromium.mjs')) installChromium();
