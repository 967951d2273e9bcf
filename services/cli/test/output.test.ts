import { table } from '@weir/cli/output';

test('a table has a line for each row, also for a row whose cells are all empty', () => {
  const rows = [
    ['x', 1],
    ['', null],
    [undefined, 'y'],
  ];
  expect(table(['name', 'value'], rows).split('\n')).toEqual(['name  value', 'x     1', '', '      y']);
  expect(table(['name'], [[''], [null]])).toBe('name\n\n');
  expect(table(['name'], [])).toBe('none');
});

test('columns are aligned by the width of their characters, and numbers to the right', () => {
  const rows = [
    ['日本', 5],
    ['ab', 1234],
  ];
  expect(table(['name', 'n'], rows).split('\n')).toEqual(['name     n', '日本     5', 'ab    1234']);
});

test('the largest answer of weir sql is formatted within seconds', () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => [n, 'text']);
  const begun = performance.now();
  expect(table(['n', 'text'], rows).split('\n')).toHaveLength(100_001);
  expect(performance.now() - begun).toBeLessThan(30_000);
});
