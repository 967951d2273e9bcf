// Packages of Debian that tests need and a bare machine lacks. Needs root, as CI has.
import { spawnSync } from 'node:child_process';

export function aptInstall(packages) {
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
  ]) {
    const { status } = spawnSync('apt-get', args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (status !== 0) throw new Error(`apt-get ${args.join(' ')} ended with ${status}`);
  }
}
