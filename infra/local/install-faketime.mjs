// Installs Debian's libfaketime, for the fault tests that move the clock.
import { spawnSync } from 'node:child_process';
import { aptInstall } from './installed.mjs';

/** The path of the library that is loaded into a process; undefined if it is not installed. */
function faketimeLibrary() {
  const { stdout } = spawnSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' });
  return stdout?.split('\n').find((file) => file.endsWith('libfaketimeMT.so.1'));
}

export function installFaketime() {
  if (faketimeLibrary() === undefined) aptInstall(['libfaketime']);
}

if (process.argv[1]?.endsWith('install-faketime.mjs')) installFaketime();
