import { spawnSync } from 'node:child_process';

/**
 * Runs code in a new Node process. The code can import the ES modules of `scripts/`, which Jest cannot import. It must print JSON. Returns the
 * parsed value.
 */
export function runModule(code: string): unknown {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', code],
    { encoding: 'utf8', maxBuffer: 2 ** 24 },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
