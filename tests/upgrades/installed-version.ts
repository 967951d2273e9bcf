import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bareEnv, PROJECT_ROOT } from '@weir/testkit/weir-process';

export interface Installation {
  /** The tag or commit that the caller named, or `this code`. */
  readonly name: string;
  /** The path of `main.js`. */
  readonly program: string;
  /** Runs the command `weir` of this version. Resolves with its standard output, and rejects if its exit code is not 0. */
  weir(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string>;
}

const run = promisify(execFile);
const CACHE = join(PROJECT_ROOT, '.cache/upgrades');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export const THIS_CODE: Installation = installationIn('this code', PROJECT_ROOT);

/** The tags of all releases in this clone, the oldest first. */
export function releaseTags(): readonly string[] {
  return git('tag', '--list', 'v[0-9]*', '--sort=version:refname')
    .split('\n')
    .filter((tag) => tag !== '');
}

/** Why a version cannot be installed; `undefined` if it can. */
export function missingCommit(name: string): string | undefined {
  try {
    git('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
    return undefined;
  } catch {
    return `this clone has no commit ${name}: git fetch --unshallow --tags`;
  }
}

/**
 * Installs a version from the git history of this clone, like `npm start` of that version: `npm ci`, then the build. The installation stays in
 * `.cache/upgrades` and is used again for the same commit.
 */
export async function installationOf(name: string): Promise<Installation> {
  const commit = git('rev-parse', '--verify', `${name}^{commit}`);
  const folder = join(CACHE, commit.slice(0, 12));
  if (!existsSync(folder)) await install(commit, folder);
  return installationIn(name, folder);
}

async function install(commit: string, folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const part = mkdtempSync(`${folder}.`);
  try {
    const archive = join(part, 'source.tar');
    await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: PROJECT_ROOT });
    await run('tar', ['-xf', archive, '-C', part]);
    rmSync(archive);
    // With this setting, npm does not ask the registry for packages that its cache has.
    const env = { ...bareEnv({ npm_config_prefer_offline: 'true' }) };
    await run(process.execPath, ['scripts/prepare.mjs'], { cwd: part, env, maxBuffer: OUTPUT_BYTES_MAX });
    // Another process may have made the installation meanwhile.
    if (!existsSync(folder)) renameSync(part, folder);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function installationIn(name: string, folder: string): Installation {
  return {
    name,
    program: join(folder, 'dist/main.js'),
    async weir(args, env) {
      const options = { env: bareEnv(env), maxBuffer: OUTPUT_BYTES_MAX };
      return (await run(process.execPath, [join(folder, 'dist/weir.js'), ...args], options)).stdout;
    },
  };
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: PROJECT_ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
