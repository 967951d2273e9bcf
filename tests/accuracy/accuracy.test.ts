import { readFileSync } from 'node:fs';
import { isMet, targetLine } from './section.ts';
import { SECTIONS } from './sections.ts';
import { toDocument } from './to-document.ts';

test('every target is met, and docs/accuracy.md equals the output of the script', async () => {
  const sections = await Promise.all(SECTIONS.map((section) => section()));
  const missed = sections.flatMap((section) => section.targets).filter((target) => !isMet(target));
  expect(missed.map(targetLine)).toEqual([]);
  expect(readFileSync('docs/accuracy.md', 'utf8')).toBe(toDocument(sections));
});
