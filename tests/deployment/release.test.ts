import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-release-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(script: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/release/${script}`, ...args], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

function fileWith(name: string, content: object | string): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const NOTHING_FOUND = { vulnerabilities: {}, metadata: { vulnerabilities: { total: 0 } } };

describe('check-dependencies', () => {
  const lockOf = (license: string | undefined, dev = false) =>
    fileWith('lock.json', { packages: { '': {}, 'node_modules/one': { version: '1.0.0', license, dev } } });
  const check = (license: string | undefined, dev = false) =>
    run('check-dependencies.mjs', ['--lock', lockOf(license, dev), '--audit', fileWith('audit.json', NOTHING_FOUND)]);

  test('the packages of this repository have allowed licences', () => {
    const { status, output } = run('check-dependencies.mjs', ['--audit', fileWith('audit.json', NOTHING_FOUND)]);
    expect(output).toMatch(/^licences: \d{3,} packages, all allowed$/m);
    expect(status).toBe(0);
  });

  test.each(['MIT', 'Apache-2.0 AND MIT', '(GPL-2.0-only OR MIT)'])('%s is allowed', (license) => {
    expect(check(license).status).toBe(0);
  });

  test.each(['GPL-3.0-only', 'AGPL-3.0', 'LGPL-3.0', 'MIT AND GPL-2.0-only', 'MPL-2.0', 'UNLICENSED', undefined])(
    '%s is not allowed',
    (license) => {
      const { status, output } = check(license);
      expect(output).toMatch(/^one@1\.0\.0: the licence .* is not allowed$/m);
      expect(status).toBe(1);
    },
  );

  test('MPL-2.0 is allowed for a tool, and GPL is not', () => {
    expect(check('MPL-2.0', true).status).toBe(0);
    expect(check('GPL-3.0-only', true).status).toBe(1);
  });

  test('a known vulnerability of a package of the product is an error', () => {
    const one = { name: 'one', severity: 'low', range: '<2.0.0' };
    const audit = fileWith('audit.json', { vulnerabilities: { one }, metadata: { vulnerabilities: { total: 1 } } });
    const { status, output } = run('check-dependencies.mjs', ['--lock', lockOf('MIT'), '--audit', audit]);
    expect(output).toMatch(/^one <2\.0\.0: a known vulnerability \(low\)/m);
    expect(status).toBe(1);
  });

  test.each(['', 'not JSON', '{"message": "405 Method Not Allowed"}', '{"error": {"code": "ENOTFOUND"}}'])(
    'the script says that nothing was checked if the registry answers %j',
    (answer) => {
      const audit = fileWith('audit.json', answer);
      const { status, output } = run('check-dependencies.mjs', ['--lock', lockOf('MIT'), '--audit', audit]);
      expect(output).toMatch(/^vulnerabilities: NOT CHECKED/m);
      expect(status).toBe(0);
    },
  );

  test('CI runs it', () => {
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^node scripts\/release\/check-dependencies\.mjs$/m);
  });
});

interface Component {
  readonly 'bom-ref': string;
  readonly scope: string;
  readonly hashes?: readonly object[];
}

interface Sbom {
  readonly specVersion: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

test('make-release writes the source, an SBOM of exactly the packages of the product, and sums that fit', () => {
  const target = join(folder, 'release');
  expect(run('make-release.mjs', [target])).toMatchObject({ status: 0 });
  const sums = readFileSync(join(target, 'SHA256SUMS'), 'utf8').trim().split('\n');
  expect(sums).toHaveLength(2);
  for (const line of sums) {
    const [sum, name = ''] = line.split('  ');
    const content = readFileSync(join(target, name));
    expect(createHash('sha256').update(content).digest('hex')).toBe(sum);
  }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const sbom = JSON.parse(readFileSync(join(target, `weir-${version}.cdx.json`), 'utf8')) as Sbom;
  expect(sbom.metadata.component).toMatchObject({ name: 'weir', version });
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version: string; link?: true; dev?: true; devOptional?: true }>;
  };
  const needed = Object.entries(lock.packages)
    .filter(([path, one]) => path.includes('node_modules/') && !one.link && !one.dev && !one.devOptional)
    .map(([path, one]) => `${path.split('node_modules/').at(-1)}@${one.version}`);
  const listed = sbom.components.map((one) => one['bom-ref']);
  expect(new Set(listed)).toEqual(new Set(needed));
  expect(listed.filter((ref) => ref.startsWith('express@'))).toHaveLength(1);
  expect(listed.filter((ref) => /^(jest|@biomejs)/.test(ref))).toEqual([]);
  // Only optional packages may lack a checksum: the lock file has none for some builds for other platforms.
  expect(sbom.components.filter(({ hashes, scope }) => hashes === undefined && scope !== 'optional')).toEqual([]);
});
