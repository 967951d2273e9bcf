import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';

/** The name of an entry of mutations.json, or undefined. If it is set, all faults run on a Weir with the defect that this entry describes. */
export const MUTATION = process.env.WEIR_FAULT_MUTATION || undefined;

let program: string | undefined;

/** Bundles Weir with points for faults (only once per process). Returns the path of its main program. */
export function failingProgram(): string {
  program ??= build();
  return program;
}

function build(): string {
  const cache = join(PROJECT_ROOT, '.cache');
  mkdirSync(cache, { recursive: true });
  // The bundle is inside the project, so that it finds the packages with native code.
  const outdir = mkdtempSync(join(cache, 'failpoints-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  const script = join(PROJECT_ROOT, 'tests/faults/failpoints/build-failpoints.mjs');
  const args = [script, outdir, ...(MUTATION === undefined ? [] : [MUTATION])];
  const { status } = spawnSync(process.execPath, args, { cwd: PROJECT_ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  return join(outdir, 'main.js');
}
