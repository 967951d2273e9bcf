import { type Section, targetLine } from './section.ts';

/** The text of docs/accuracy.md: first the targets of all sections, then each section. */
export function toDocument(sections: readonly Section[]): string {
  const targets = sections.flatMap((section) => section.targets.map(targetLine));
  return [
    '# Accuracy',
    '',
    "Written by `npm run accuracy`. The script compares the results of Weir's code with the labels of public test sets. The sets",
    'are development dependencies and are not copied. `npx jest tests/accuracy` fails if a target is missed.',
    '',
    '## Targets',
    '',
    '| what | reached | wanted | cases | |',
    '| --- | --- | --- | --- | --- |',
    ...targets,
    '',
    ...sections.flatMap((section) => [`## ${section.title}`, '', section.markdown.trim(), '']),
  ].join('\n');
}
