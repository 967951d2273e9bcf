// Usage: node scripts/prepare.mjs [start|test|check]. Installs the dependencies and, except for `check`, builds the bundles in
// dist/. Does nothing if both are up to date. `start` (the default) installs what the product and its build need. `test` and
// `check` also install what only tests need: three times as many packages in all. `--ignore-scripts` prevents that npm compiles
// two of these (cpu-features and ssh2). Uses only Node's own modules, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const NODE_MIN = [20, 19];
// False if `scripts/weir.mjs` imports this file. The arguments then belong to the command `weir`.
const isProgram = realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
const purpose = (isProgram ? process.argv[2] : undefined) ?? 'start';
if (!['start', 'test', 'check'].includes(purpose)) fail(`prepare.mjs prepares start, test or check, not ${purpose}`);

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  fail(`Weir needs Node ${NODE_MIN.join('.')} or later; this is ${process.versions.node}.`);
}

if (!isInstalled()) {
  console.error('weir: installing dependencies (once)');
  run('npm', ['ci', ...(purpose === 'start' ? ['--omit=dev'] : []), '--ignore-scripts', '--no-audit', '--no-fund']);
}
if (purpose !== 'check')
  once(
    'dist/.weir-built',
    fingerprintTimes(['packages', 'services', 'schemas', 'scripts', 'package-lock.json']),
    () => {
      run(process.execPath, ['scripts/build.mjs']);
    },
  );

/** Runs `make` unless the file `stamp` already contains this fingerprint. */
function once(stamp, fingerprint, make) {
  if (readOrEmpty(stamp) === fingerprint) return;
  make();
  const path = join(root, stamp);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, fingerprint);
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
