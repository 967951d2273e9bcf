// node scripts/prose/lint-commits.mjs checks that the subject of each commit after BASE has at most 72 characters. It checks
// nothing in a clone that does not have BASE (for example a shallow clone of CI), and prints a message about that.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last commit that was made before this rule existed. */
const BASE = 'ee5f5887e055eb73d982e43c32922e60ffc1a902';
const SUBJECT_CHARS_MAX = 72;

const git = (...args) => spawnSync('git', args, { cwd: dirname(fileURLToPath(import.meta.url)), encoding: 'utf8' });

const log = git('log', '--no-merges', '--format=%h %s', `${BASE}..HEAD`);
if (log.status !== 0) {
  console.error(`commit subjects were not checked: this clone does not have the commit ${BASE.slice(0, 12)}`);
} else {
  const long = log.stdout
    .split('\n')
    .filter((line) => [...line.slice(line.indexOf(' ') + 1)].length > SUBJECT_CHARS_MAX);
  for (const line of long) console.error(`subject of more than ${SUBJECT_CHARS_MAX} characters: ${line}`);
  if (long.length > 0) process.exit(1);
}
