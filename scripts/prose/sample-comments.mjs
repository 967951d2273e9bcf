// Draws random comments and paragraphs of the documentation, for a review of how easy they are to understand.
// Usage: node scripts/prose/sample-comments.mjs SEED [COMMENTS] [PARAGRAPHS]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [seed = '1', comments = '20', paragraphs = '10'] = process.argv.slice(2);
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const CHARS_MIN = 40;

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0');
const read = (file) => readFileSync(file, 'utf8');
const lineOf = (text, index) => text.slice(0, index).split('\n').length;

const allComments = files
  .filter((file) => /\.(ts|mjs)$/.test(file))
  .flatMap((file) => {
    const text = read(file);
    return [...text.matchAll(COMMENT)].map(({ 0: found, index }) => `${file}:${lineOf(text, index)}\n${found.trim()}`);
  });
const allParagraphs = files
  .filter((file) => file.endsWith('.md') && !/CHANGELOG|LICENSE|CODE_OF_CONDUCT/.test(file))
  .flatMap((file) =>
    read(file)
      .split(/\n\s*\n/)
      .filter((paragraph) => /^[A-Z*`]/.test(paragraph))
      .map((paragraph) => `${file}\n${paragraph.trim()}`),
  );

console.log([...draw(allComments, Number(comments)), ...draw(allParagraphs, Number(paragraphs))].join('\n\n'));

/** Returns the `count` texts with the lowest hash of seed and text. The same seed and commit always give the same texts. */
function draw(texts, count) {
  const rank = (text) => createHash('sha256').update(`${seed}\0${text}`).digest('hex');
  return texts
    .filter((text) => text.length >= CHARS_MIN)
    .map((text) => [rank(text), text])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, text]) => text);
}
