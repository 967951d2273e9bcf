import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { loadText, machineText } from '../../bench/report/machine.ts';
import { type Run, renewedFaultsPage, type Section } from './faults-page.ts';

const PAGE = join(PROJECT_ROOT, 'docs/faults.md');

/** Replaces or adds rows of a section of docs/faults.md. `more`: what happened in the run, for the last line of the section. */
export function writeFaultsPage(section: Section, rowsOf: (run: Run) => ReadonlyMap<string, string>, more = ''): void {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: PROJECT_ROOT, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'packages', 'services', 'schemas') !== '';
  const run = {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' and changes' : ''}`,
    machine: `${machineText()}, load average ${loadText()}`,
  };
  const old = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  writeFileSync(PAGE, renewedFaultsPage(old, section, rowsOf(run), run, more));
}
