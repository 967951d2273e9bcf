// Draws random comments and paragraphs of the documentation, for a review of how easy they are to understand.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run -s sample-comments -- [--seed N] [--comments N] [--paragraphs N]

  --seed N        selects the texts: the same seed and commit always give the same texts (default 1)
  --comments N    number of comments (default 20)
  --paragraphs N  number of paragraphs of the documentation (default 10)
  --help          prints this text
`;
const { seed, comments, paragraphs } = readArguments();
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const CODE_BLOCK = /^ *```[\s\S]*?^ *```$/gm;
/** Shorter texts are not drawn. */
const CHARS_MIN = 40;

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0');
const read = (file) => readFileSync(file, 'utf8');
const lineOf = (text, index) => text.slice(0, index).split('\n').length;

const allComments = files
  .filter((file) => /\.(ts|mjs)$/.test(file))
  .flatMap((file) => {
    const text = read(file);
    const long = [...text.matchAll(COMMENT)].filter(([found]) => found.trim().length >= CHARS_MIN);
    return long.map(({ 0: found, index }) => `${file}:${lineOf(text, index)}\n${found.trim()}`);
  });
const allParagraphs = files
  .filter((file) => file.endsWith('.md') && !/CHANGELOG|LICENSE|CODE_OF_CONDUCT/.test(file))
  .flatMap((file) =>
    read(file)
      .replace(CODE_BLOCK, '')
      .split(/\n\s*\n/)
      .filter((paragraph) => /^[A-Z*`]/.test(paragraph) && paragraph.trim().length >= CHARS_MIN)
      .map((paragraph) => `${file}\n${paragraph.trim()}`),
  );

console.log([...draw(allComments, comments), ...draw(allParagraphs, paragraphs)].join('\n\n'));

/** Reads the command line. Prints the usage and exits if `--help` is given (code 0), or if an argument is unknown or no number (code 2). */
function readArguments() {
  try {
    const text = (value) => ({ type: 'string', default: value });
    const options = { seed: text('1'), comments: text('20'), paragraphs: text('10'), help: { type: 'boolean' } };
    const { help, ...values } = parseArgs({ options }).values;
    if (help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const numbers = Object.entries(values).map(([name, value]) => {
      if (!/^\d{1,9}$/.test(value)) throw new Error(`--${name} ${value}: must be a whole number of at most 9 digits`);
      return [name, Number(value)];
    });
    return Object.fromEntries(numbers);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Returns the `count` texts with the lowest hash of seed and text. */
function draw(texts, count) {
  const rank = (text) => createHash('sha256').update(`${seed}\0${text}`).digest('hex');
  return texts
    .map((text) => [rank(text), text])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, text]) => text);
}
