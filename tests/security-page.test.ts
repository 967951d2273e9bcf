import { existsSync, readFileSync } from 'node:fs';

const page = readFileSync('docs/security.md', 'utf8');
const NAMES_TEST = /`((?:packages|services|tests)\/[\w/.-]+\.test\.ts)`/g;

/** The rows of all tables whose last column is `tests`, without their heads. */
function rowsWithTests(): readonly string[] {
  return page
    .split(/\n{2,}|^#.*$/m)
    .filter((table) => /^\|.*\| tests \|$/m.test(table))
    .flatMap((table) => table.trim().split('\n').slice(2));
}

test('each attack of docs/security.md has a test', () => {
  expect(rowsWithTests().length).toBeGreaterThan(30);
  const without = rowsWithTests().filter((row) => !/`[\w/.-]+\.test\.ts` \|$/.test(row));
  expect(without).toEqual([]);
});

test('each test that docs/security.md names exists', () => {
  const named = [...page.matchAll(NAMES_TEST)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});
