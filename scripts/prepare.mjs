// Usage: node scripts/prepare.mjs [start|test|check]. Installs the dependencies and, except for `check`, builds the bundles in
// dist/. Does nothing if both are up to date. `start` (the default) installs what the product and its build need. `test` and
// `check` also install what only tests need: three times as many packages in all. `--ignore-scripts` prevents that npm compiles
// two of these (cpu-features and ssh2). Uses only Node's own modules, because it runs before anything is installed.
// Only one process at a time installs or builds: both begin with the removal of the former files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const NODE_MIN = [20, 19];
/** A change of these needs a new build. */
const SOURCES = ['packages', 'services', 'schemas', 'scripts', 'package-lock.json'];
/** This file contains the fingerprint of the sources from which dist/ was built. */
const BUILT = 'dist/.weir-built';
const LOCK = join(root, '.cache', 'prepare');
const LOOK_EVERY_MS = 100;
// False if `scripts/weir.mjs` imports this file. The arguments then belong to the command `weir`.
const isProgram = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
const purpose = (isProgram ? process.argv[2] : undefined) ?? 'start';
if (!['start', 'test', 'check'].includes(purpose)) fail(`prepare.mjs prepares start, test or check, not ${purpose}`);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Weir needs Node ${NODE_MIN.join('.')} or later; this is ${process.versions.node}.`);
}

if (!isInstalled() || !isBuilt()) {
  const unlock = await lock();
  // Both are checked again, because another process can have done the work in the meantime.
  if (!isInstalled()) {
    console.error('weir: installing dependencies (once)');
    run('npm', ['ci', ...(purpose === 'start' ? ['--omit=dev'] : []), '--ignore-scripts', '--no-audit', '--no-fund']);
  }
  if (!isBuilt()) {
    const fingerprint = fingerprintTimes(SOURCES);
    run(process.execPath, ['scripts/build.mjs']);
    writeFileSync(join(root, BUILT), fingerprint);
  }
  unlock();
}

/**
 * Waits until no other process installs or builds in this folder. Returns a function that ends the lock. The lock is a folder with one empty file,
 * whose name is the ID of the process that has the lock. A folder can replace an empty folder, but not one with a file. A killed process leaves its
 * file. Others remove only this file, so they cannot remove the lock of a process that has got it in the meantime.
 */
async function lock() {
  const own = `${LOCK}-${process.pid}`;
  const unlock = () => rmSync(join(LOCK, String(process.pid)), { force: true });
  process.once('exit', () => {
    rmSync(own, { recursive: true, force: true });
    unlock();
  });
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, String(process.pid)), '');
  for (let waits = false; ; ) {
    try {
      renameSync(own, LOCK);
      return unlock;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    }
    const [holder] = readdirSync(LOCK);
    if (holder === undefined) continue;
    if (!isRunning(Number(holder))) {
      rmSync(join(LOCK, holder), { force: true });
      continue;
    }
    if (!waits) {
      console.error(
        `weir: process ${holder} installs or builds here: waiting. If it is another program, delete ${join(LOCK, holder)}`,
      );
    }
    waits = true;
    await pause(LOOK_EVERY_MS);
  }
}

/** A file of this process itself is left from an earlier process with the same ID. */
function isRunning(pid) {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process runs, and belongs to another user.
    return error.code === 'EPERM';
  }
}

function run(command, args) {
  // Standard output must stay empty, because it belongs to the program that runs afterwards (`weir … --json`).
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed; nothing was started.`);
}

function isBuilt() {
  return purpose === 'check' || readOrEmpty(BUILT) === fingerprintTimes(SOURCES);
}

/** Whether node_modules has the packages that the lock file lists for this purpose. npm records what it has installed. */
function isInstalled() {
  const installed = readOrEmpty('node_modules/.package-lock.json');
  if (installed === '') return false;
  const has = JSON.parse(installed).packages;
  const wants = JSON.parse(readOrEmpty('package-lock.json')).packages;
  return Object.entries(wants).every(
    ([path, { version, optional, dev, devOptional }]) =>
      optional ||
      (purpose === 'start' && (dev || devOptional)) ||
      !path.includes('node_modules/') ||
      (path in has && has[path].version === version),
  );
}

/**
 * A fingerprint of the names, sizes and times of all files in some folders. Reading the contents would take a hundred times
 * longer, and these values change with every edit.
 */
function fingerprintTimes(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const stat = statSync(path);
    if (!stat.isDirectory()) return hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
    for (const name of readdirSync(path).sort()) if (name !== 'node_modules') visit(join(path, name));
  };
  for (const path of paths) visit(join(root, path));
  return hash.digest('hex');
}

function readOrEmpty(path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function fail(message) {
  console.error(`weir: ${message}`);
  process.exit(1);
}
