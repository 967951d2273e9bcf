// node scripts/prose/lint-prose.mjs [--list|--prune] finds the words of words.txt in documents, comments and messages.
// old-files.txt lists files that are older than this check and are exempt. `--list` prints those that still have such words,
// with their number. `--prune` removes the clean files from the list. No option adds files.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const OLD_FILES = join(here, 'old-files.txt');
const TEXT = /(\.(md|tsx?|mjs|cjs|sql|sh|ya?ml|html|css|conf|toml)|Dockerfile|\.ci\/run)$/;
/** Files that are not checked: texts of other authors, and the folder with the list of words. */
const LEFT_OUT = /^(scripts\/prose\/|CODE_OF_CONDUCT\.md$)/;

const rules = linesOf(join(here, 'words.txt')).map((line) => {
  const [pattern, instead] = line.split(' -> ');
  return { words: new RegExp(`\\b(?:${pattern})\\b`, 'gi'), instead };
});
const old = new Set(linesOf(OLD_FILES));
/** The names of listed files that were moved. They are still exempt: file names are unique in this repository. */
const moved = new Set([...old].filter((file) => !existsSync(join(root, file))).map((file) => basename(file)));

const found = new Map();
for (const file of trackedFiles()) {
  const places = placesIn(file);
  if (places.length > 0) found.set(file, places);
}

const isOld = (file) => old.has(file) || moved.has(basename(file));
if (process.argv[2] === '--list') {
  const remaining = [...found].filter(([file]) => isOld(file)).sort(([, a], [, b]) => b.length - a.length);
  for (const [file, places] of remaining) console.log(`${String(places.length).padStart(4)} ${file}`);
  console.log(`${remaining.length} old files with ${remaining.flatMap(([, places]) => places).length} places`);
} else if (process.argv[2] === '--prune') {
  const remaining = [...found.keys()].filter(isOld).sort();
  const comments = readFileSync(OLD_FILES, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('#'));
  writeFileSync(OLD_FILES, `${[...comments, ...remaining].join('\n')}\n`);
  console.log(`${remaining.length} old files are left`);
} else {
  const wrong = [...found].filter(([file]) => !isOld(file)).flatMap(([, places]) => places);
  for (const place of wrong) console.error(place);
  if (wrong.length > 0) {
    console.error(
      `${wrong.length} places with words that Weir's texts do not use (scripts/prose/words.txt): rewrite them`,
    );
    process.exit(1);
  }
}

function placesIn(file) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    rules.flatMap(({ words, instead }) =>
      [...line.matchAll(words)]
        .filter(([word]) => !isIdentifier(word))
        .map(([word]) => `${file}:${index + 1}: "${word}": write ${instead}`),
    ),
  );
}

/** True for identifiers in camel case, such as `noBody`. */
function isIdentifier(word) {
  return /[a-z][A-Z]/.test(word);
}

/** The files that git tracks, and new files that git does not ignore. */
function trackedFiles() {
  const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return names.split('\0').filter((file) => TEXT.test(file) && !LEFT_OUT.test(file) && existsSync(join(root, file)));
}

function linesOf(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}
