import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareEnv, PROJECT_ROOT, runProgram } from '@weir/testkit/weir-process';
import { cli } from './cli-harness.ts';

const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));

test.each(['--version', '-V'])('weir %s prints the version of package.json, and needs no settings', async (option) => {
  expect(await cli([option], { env: {} })).toMatchObject({ exitCode: 0, out: `${version}\n`, err: '' });
  expect(await runProgram('weir.js', [option], {})).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect((await cli(['--help'], { env: {} })).out).toContain('-V, --version');
});

test('npx runs weir from a checkout, also in a subfolder, without the network', () => {
  const cache = mkdtempSync(join(tmpdir(), 'weir-npx-'));
  const env = bareEnv({ npm_config_cache: cache, npm_config_offline: 'true', npm_config_update_notifier: 'false' });
  try {
    for (const cwd of [PROJECT_ROOT, join(PROJECT_ROOT, 'docs')]) {
      expect(execFileSync('npx', ['weir', '--version'], { cwd, env, encoding: 'utf8' })).toBe(`${version}\n`);
    }
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
