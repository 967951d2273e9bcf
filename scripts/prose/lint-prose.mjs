// node scripts/prose/lint-prose.mjs finds the words of words.txt in documents, comments and messages.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const TEXT = /(\.(md|tsx?|mjs|cjs|sql|sh|ya?ml|html|css|conf|toml)|Dockerfile|\.ci\/run)$/;
/** Files that are not checked: texts of other authors, and the folder with the list of words. */
const LEFT_OUT = /^(scripts\/prose\/|CODE_OF_CONDUCT\.md$)/;

const rules = readFileSync(join(here, 'words.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [pattern, instead] = line.split(' -> ');
    return { words: new RegExp(`\\b(?:${pattern})\\b`, 'gi'), instead };
  });

const wrong = trackedFiles().flatMap(placesIn);
for (const place of wrong) console.error(place);
if (wrong.length > 0) {
  console.error(
    `${wrong.length} places with words that Weir's texts do not use (scripts/prose/words.txt): rewrite them`,
  );
  process.exit(1);
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
