import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { ROOT, readJson, readText } from './read-files.ts';

const text = readText('infra/docker/Dockerfile');
/** The instructions of the Dockerfile, one per line, without comments. */
const instructions = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\s*\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '');
const runtime = instructions.slice(instructions.findIndex((line) => line.endsWith('AS runtime')));

test('the Dockerfile is valid', () => {
  expect(validate(text).map(({ message }) => message)).toEqual([]);
});

test('the image runs as an unprivileged user, on the current LTS of Node, with a health check', () => {
  expect(instructions).toContain('ARG NODE_VERSION=24');
  expect(runtime).toContain('USER 1000:1000');
  expect(runtime.filter((line) => line.startsWith('HEALTHCHECK'))).toHaveLength(1);
  expect(runtime).toContain(
    'ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=32", "--expose-gc", "dist/main.js"]',
  );
});

test('the image starts Weir as npm start does', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { readonly scripts: { readonly start: string } };
  // `npm start` builds first, and needs `exec`, because otherwise a shell would run between npm and Weir. The image uses no shell.
  const words = ['tini', '--', ...scripts.start.replace(/^.* exec /, '').split(' ')].map((word) =>
    JSON.stringify(word),
  );
  expect(runtime).toContain(`ENTRYPOINT [${words.join(', ')}]`);
});

test('the image has no secret, no chDB and no development package', () => {
  expect(instructions.join('\n')).not.toMatch(/PASSWORD|TOKEN|SECRET/);
  expect(text).toContain('npm ci --omit=dev');
  expect(readText('infra/docker/Dockerfile.dockerignore').split('\n')[0]).toBe('*');
});

test('every workspace is installed, except those for chDB and for tests', () => {
  const printed = execFileSync(process.execPath, ['infra/docker/workspaces.mjs'], { cwd: ROOT, encoding: 'utf8' });
  const listed = printed.split(/ ?-w /).slice(1);
  const all = ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`),
  );
  expect(all.filter((folder) => !listed.includes(folder))).toEqual([
    'packages/embedded-clickhouse',
    'packages/testkit',
  ]);
  const withChdb = listed.filter((folder) => {
    const { dependencies = {} } = readJson<{ dependencies?: Record<string, string> }>(`${folder}/package.json`);
    return 'chdb' in dependencies;
  });
  expect(withChdb).toEqual([]);
});

test('the copied files exist', () => {
  const sources = [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)]
    .flatMap(([, listed = '']) => listed.split(' '))
    .filter((source) => source !== '.');
  expect(sources.length).toBeGreaterThan(5);
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  const missing = sources.filter((source) => !tracked.some((file) => file === source || file.startsWith(`${source}/`)));
  expect(missing).toEqual([]);
});

/**
 * The files of the checkout that Dockerfile.dockerignore allows in the build of the image. Supports only the kinds of lines that are in this
 * file.
 */
function filesForBuild(): readonly string[] {
  const lines = readText('infra/docker/Dockerfile.dockerignore').split('\n').filter(Boolean);
  const pattern = (line: string): string => line.replaceAll('.', '\\.').replaceAll(/(?<!\*)\*(?!\*)/g, '[^/]*');
  const allowed = lines.filter((line) => line.startsWith('!')).map((line) => `^${pattern(line.slice(1))}(?:/|$)`);
  const refused = lines
    .filter((line) => line.startsWith('**/'))
    .map((line) => `(?:^|/)${pattern(line.slice(3))}(?:/|$)`);
  expect(allowed.length + refused.length + 1).toBe(lines.length);
  const matches = (file: string, patterns: readonly string[]) => patterns.some((one) => new RegExp(one).test(file));
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => existsSync(join(ROOT, file)) && matches(file, allowed) && !matches(file, refused));
}

test('the files that reach the build of the image are enough for the build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-image-'));
  try {
    for (const file of filesForBuild()) cpSync(join(ROOT, file), join(folder, file));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, encoding: 'utf8' });
    expect([built.status, built.stderr.match(/^.*error.*$/gim) ?? []]).toEqual([0, []]);
    expect(existsSync(join(folder, 'dist/main.js'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 300_000);
