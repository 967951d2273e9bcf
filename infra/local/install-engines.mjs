// Installs Debian's Firefox, and WebKitGTK with a virtual screen, for tests/browser/engines.test.ts.
import { existsSync } from 'node:fs';
import { aptInstall } from './installed.mjs';

const COMMANDS = ['/usr/bin/firefox-esr', '/usr/bin/WebKitWebDriver', '/usr/bin/Xvfb'];

export function installEngines() {
  if (!COMMANDS.every((file) => existsSync(file))) aptInstall(['firefox-esr', 'webkit2gtk-driver', 'xvfb']);
}

if (process.argv[1]?.endsWith('install-engines.mjs')) installEngines();
