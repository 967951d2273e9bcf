import { type Section, targetLine } from './section.ts';

/** docs/accuracy.md: first the targets of all sections, then each section. */
export function toDocument(sections: readonly Section[]): string {
  const targets = sections.flatMap((section) => section.targets.map(targetLine));
  return [
    '# Accuracy',
    '',
    "Written by `npm run accuracy`: Weir's own code against public test sets, which are installed as development",
    'dependencies and never copied. `npx jest tests/accuracy` fails when a target is missed.',
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
