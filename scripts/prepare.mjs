// Usage: node scripts/prepare.mjs [start|test|check]. Installs the dependencies and, except for `check`, builds the bundles in
// dist/. Does nothing if both are up to date. `start` (the default) installs what the product and its build need. `test` and
// `check` also install what only tests need: three times as many packages in all. `--ignore-scripts` prevents that npm compiles
// two of these (cpu-features and ssh2). Uses only Node's own modules, because it runs before anything is installed.
// Only one process at a time installs or builds: both begin with the removal of the former files.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
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
const TOUCH_EVERY_MS = 1_000;
/** A lock that was touched before this time belongs to a process that was killed. */
const STALE_AFTER_MS = 20_000;
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];
// False if `scripts/weir.mjs` imports this file. The arguments then belong to the command `weir`.
const isProgram = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
const purpose = (isProgram ? process.argv[2] : undefined) ?? 'start';
if (!['start', 'test', 'check'].includes(purpose)) fail(`prepare.mjs prepares start, test or check, not ${purpose}`);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Weir needs Node ${NODE_MIN.join('.')} or later; this is ${process.versions.node}.`);
}

/** The command that this process runs, and the signal that has stopped it. */
let child;
let stoppedBy;

if (!isInstalled() || !isBuilt()) {
  const unlock = await lock();
  // Both are checked again, because another process can have done the work in the meantime.
  if (!isInstalled()) {
    console.error('weir: installing dependencies (once)');
    await run('npm', [
      'ci',
      ...(purpose === 'start' ? ['--omit=dev'] : []),
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ]);
  }
  if (!isBuilt()) {
    const fingerprint = fingerprintTimes(SOURCES);
    await run(process.execPath, ['scripts/build.mjs']);
    writeFileSync(join(root, BUILT), fingerprint);
  }
  unlock();
}

/**
 * Waits until no other process installs or builds in this folder. Returns a function that ends the lock. The lock is a folder with one file, which
 * its holder touches again and again. A folder can replace an empty folder, but not one with a file. A process that is killed leaves its file. Others
 * remove only this file, so they cannot remove the lock of a process that has got it in the meantime. The times of files, unlike process IDs, have
 * the same meaning in all containers that share the folder.
 */
async function lock() {
  const name = randomUUID();
  const own = `${LOCK}-${name}`;
  const unlock = () => {
    for (const signal of SIGNALS) process.off(signal, stop);
    clearInterval(touching);
    rmSync(own, { recursive: true, force: true });
    rmSync(join(LOCK, name), { force: true });
  };
  try {
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, name), '');
  } catch (error) {
    fail(`cannot write ${own} (${error.code}): run this as the owner of the folder.`);
  }
  let folder = own;
  const touching = setInterval(() => touch(join(folder, name)), TOUCH_EVERY_MS).unref();
  process.once('exit', unlock);
  for (const signal of SIGNALS) process.on(signal, stop);
  for (let waits = false; ; waits = true) {
    try {
      renameSync(own, LOCK);
      folder = LOCK;
      return unlock;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    }
    for (const holder of readdirSync(LOCK)) {
      const { mtimeMs } = statSync(join(LOCK, holder), { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
      if (mtimeMs < Date.now() - STALE_AFTER_MS) rmSync(join(LOCK, holder), { force: true });
    }
    if (!waits) console.error('weir: another process installs or builds here: waiting');
    await pause(LOOK_EVERY_MS);
  }
}

function touch(file) {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch (error) {
    // Another process has taken the lock, because this one was stopped for a long time.
    if (error.code !== 'ENOENT') throw error;
  }
}

async function run(command, args) {
  // Standard output must stay empty, because it belongs to the program that runs afterwards (`weir … --json`).
  child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  const [status] = await once(child, 'close').catch((error) => [error.code]);
  child = undefined;
  if (stoppedBy !== undefined) process.exit(128 + constants.signals[stoppedBy]);
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed; nothing was started.`);
}

/** Ends this process, but first the command that it runs: the command must not go on after the end of the lock. */
function stop(signal) {
  if (child === undefined) process.exit(128 + constants.signals[signal]);
  stoppedBy = signal;
  child.kill(signal);
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
