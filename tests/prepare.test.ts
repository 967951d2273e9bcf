import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '@weir/testkit/eventually';
import { killGroup, PROJECT_ROOT } from '@weir/testkit/weir-process';

/** Fails if another build runs. Ends when the file `finish` exists. */
const BUILD = `
import { appendFileSync, existsSync, mkdirSync, rmdirSync } from 'node:fs';
mkdirSync('building');
while (!existsSync('finish')) await new Promise((resolve) => setTimeout(resolve, 10));
mkdirSync('dist', { recursive: true });
appendFileSync('dist/builds', 'built ');
rmdirSync('building');
`;

/** A checkout that has nothing to install. */
let checkout: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'weir-prepare-'));
  for (const folder of ['packages', 'services', 'schemas', 'scripts', 'node_modules'])
    mkdirSync(join(checkout, folder));
  for (const file of ['package-lock.json', 'node_modules/.package-lock.json']) write(file, '{"packages":{}}');
  copyFileSync(join(PROJECT_ROOT, 'scripts/prepare.mjs'), join(checkout, 'scripts/prepare.mjs'));
  write('scripts/build.mjs', BUILD);
});
afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null && child.signalCode === null) killGroup(child);
  rmSync(checkout, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const write = (file: string, text: string) => writeFileSync(join(checkout, file), text);
const isBuilding = () => existsSync(join(checkout, 'building'));
const builds = () => readFileSync(join(checkout, 'dist/builds'), 'utf8');

function prepare() {
  const child = spawn(process.execPath, [join(checkout, 'scripts/prepare.mjs')], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.push(child);
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  return { child, said: () => said, code: once(child, 'close').then(([code]) => code as number | null) };
}

test('processes that start at the same time build once, one after the other', async () => {
  const first = prepare();
  await eventually('the build', isBuilding);
  const others = [prepare(), prepare(), prepare()];
  const ended = prepare();
  for (const { said, child } of [...others, ended]) {
    await eventually('the other processes to wait', () => said() !== '' || child.exitCode !== null);
    expect(said()).toContain('weir: another process installs or builds here: waiting');
  }
  ended.child.kill('SIGINT');
  expect(await ended.code).toBe(130);
  write('finish', '');
  expect(await Promise.all([first, ...others].map(({ code }) => code))).toEqual([0, 0, 0, 0]);
  expect(builds()).toBe('built ');
  expect(await prepare().code).toBe(0);
  expect(builds()).toBe('built ');
  expect(readdirSync(join(checkout, '.cache'))).toEqual(['prepare']);
});

test('a process that was killed while it built does not stop the next one', async () => {
  const killed = prepare();
  await eventually('the build', isBuilding);
  killGroup(killed.child);
  await killed.code;
  rmSync(join(checkout, 'building'), { recursive: true });
  write('finish', '');
  expect(await prepare().code).toBe(0);
  expect(builds()).toBe('built ');
});

test('a process that is asked to end stops its build first', async () => {
  const ended = prepare();
  await eventually('the build', isBuilding);
  ended.child.kill('SIGTERM');
  expect(await ended.code).toBe(143);
  rmSync(join(checkout, 'building'), { recursive: true });
  write('finish', '');
  expect(await prepare().code).toBe(0);
  expect(builds()).toBe('built ');
  expect(readdirSync(join(checkout, '.cache/prepare'))).toEqual([]);
});

test('a build that fails is not counted as built, and does not stop the next process', async () => {
  write('scripts/build.mjs', 'process.exit(1)');
  const failed = prepare();
  expect(await failed.code).toBe(1);
  expect(failed.said()).toContain('scripts/build.mjs` failed; nothing was started.');
  write('scripts/build.mjs', BUILD);
  write('finish', '');
  expect(await prepare().code).toBe(0);
  expect(builds()).toBe('built ');
});

test.each(['start', 'test'])('npm %s builds also if npm is configured to run no scripts before it', async (name) => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  const own = Object.entries(scripts).filter(([key]) => key === name || key === `pre${name}`);
  write('package.json', JSON.stringify({ type: 'module', scripts: Object.fromEntries(own) }));
  // Instead of Weir and Jest, programs that print their arguments.
  const program = 'console.log(process.argv.slice(2).join())';
  write(
    'scripts/build.mjs',
    `import fs from 'node:fs'; fs.mkdirSync('dist'); fs.writeFileSync('dist/main.js', '${program}')`,
  );
  mkdirSync(join(checkout, 'node_modules/.bin'));
  writeFileSync(join(checkout, 'node_modules/.bin/jest'), '#!/bin/sh\ncat dist/main.js > /dev/null && echo "$@"\n', {
    mode: 0o755,
  });
  const npm = spawn('npm', ['--silent', 'run', name, '--', 'gateway'], {
    cwd: checkout,
    env: { ...process.env, npm_config_ignore_scripts: 'true' },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(npm);
  expect(await Promise.all([text(npm.stdout), once(npm, 'close')])).toEqual(['gateway\n', [0, null]]);
});
