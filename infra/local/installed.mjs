import { spawnSync } from 'node:child_process';
import { say } from './layout.mjs';

export function hasCommand(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** Runs an installer. The output of the installer goes to standard error. */
export function run(command, args) {
  say(`> ${command} ${args.join(' ')}`);
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

/** Another installation can run at the same time, for example the automatic updates of a new machine. */
const LOCK_WAIT_S = 300;

let listsAreFresh = false;

export function aptInstall(packages) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const [command, ...apt] = [...sudo, 'apt-get', '-o', `DPkg::Lock::Timeout=${LOCK_WAIT_S}`];
  if (!listsAreFresh) updateLists(command, [...apt, 'update', '-qq']);
  listsAreFresh = true;
  run(command, [...apt, 'install', '-y', '-qq', '--no-install-recommends', ...packages]);
}

/** Unlike `install`, `apt-get update` does not wait for its lock (apt 2.6). So it is repeated while another process holds the lock. */
function updateLists(command, args) {
  say(`> ${command} ${args.join(' ')}`);
  const endsAt = performance.now() + LOCK_WAIT_S * 1000;
  for (;;) {
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };
    const { status, stderr } = spawnSync(command, args, { stdio: ['ignore', 2, 'pipe'], encoding: 'utf8', env });
    if (status === 0) return;
    process.stderr.write(stderr ?? '');
    if (!/Could not get lock/.test(stderr ?? '') || performance.now() > endsAt)
      throw new Error(`${command} ended with ${status}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  }
}
