import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import { MUTATIONS } from './failpoints/mutations.ts';
import { EMBEDDED_FAULTS } from './suite/embedded-faults.ts';

// `npm run faults -- --mutations` builds each mutation, and runs the faults that must find it. These tests only check that each mutation can be
// applied, and that its faults exist.

test.each(MUTATIONS)('mutation $name: each text that it replaces occurs once in its file', ({ edits }) => {
  for (const { file, find } of edits) {
    const parts = readFileSync(join(PROJECT_ROOT, file), 'utf8').split(find);
    expect({ file, find, times: parts.length - 1 }).toEqual({ file, find, times: 1 });
  }
});

test('each fault that must find a mutation exists', () => {
  const names = EMBEDDED_FAULTS.map(({ name }) => name);
  expect(MUTATIONS.flatMap(({ foundBy }) => foundBy).filter((name) => !names.includes(name))).toEqual([]);
});
