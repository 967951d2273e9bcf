import { csvOf } from '../src/ui/csv-text.ts';

test.each(['=HYPERLINK("https://example.com")', '+1', '-1+1', '-1.', '-1\n', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])(
  'a text that a spreadsheet would run is a text: %j',
  (text) => {
    const [, cell] = /^"?([\s\S]*?)"?\r\n$/.exec(csvOf([[text]])) ?? [];
    expect(cell?.replaceAll('""', '"')).toBe(`'${text}`);
  },
);

test.each(['-1', '-12.50', '-9223372036854775808', '0.1'])('the exact text of a number stays: %s', (text) => {
  expect(csvOf([[text]])).toBe(`${text}\r\n`);
});

test('numbers, also negative ones, stay numbers; quotes, commas and line breaks are quoted', () => {
  expect(csvOf([[-1.5, null, 'a "b", c', 'x\ny']])).toBe('-1.5,,"a ""b"", c","x\ny"\r\n');
});

test.each(['/a;=1+1', '/a\t=1+1'])(
  'a text stays one cell in a spreadsheet that splits lines at another character: %j',
  (text) => {
    expect(csvOf([[text, 5]])).toBe(`"${text}",5\r\n`);
  },
);

test.each([
  ['a;=1+1;', `"a;'=1+1;"`],
  ['a;"=1+1', `"a;""'=1+1"`],
  ['a\r\n@SUM(A1)', `"a\r\n'@SUM(A1)"`],
  ['=1;-2', `"'=1;'-2"`],
  ['a; b\r\nc=1', `"a; b\r\nc=1"`],
])('in a later column, a formula after the start of another cell gets an apostrophe: %j', (text, expected) => {
  expect(csvOf([[1, text]])).toBe(`1,${expected}\r\n`);
});
