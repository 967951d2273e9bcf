import { spawnSync } from 'node:child_process';

/**
 * Runs code in a new Node process, and returns the value that it prints as JSON. The code can import the ES modules of `scripts/`, which Jest
 * cannot import.
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
