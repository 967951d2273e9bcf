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
  const apt = (...args) => {
    const [command, ...rest] = [...sudo, 'apt-get', '-o', `DPkg::Lock::Timeout=${LOCK_WAIT_S}`, ...args];
    run(command, rest);
  };
  if (!listsAreFresh) apt('update', '-qq');
  listsAreFresh = true;
  apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
}
