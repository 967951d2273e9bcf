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
