import { writeFileSync } from 'node:fs';
import { isMet, targetLine } from './section.ts';
import { SECTIONS } from './sections.ts';
import { toDocument } from './to-document.ts';

/** The script `npm run accuracy`: writes docs/accuracy.md, and fails if a target is missed. */
const sections = await Promise.all(SECTIONS.map((section) => section()));
writeFileSync(new URL('../../docs/accuracy.md', import.meta.url), toDocument(sections));

const targets = sections.flatMap((section) => section.targets);
for (const target of targets) console.log(targetLine(target));
if (!targets.every(isMet)) process.exitCode = 1;
