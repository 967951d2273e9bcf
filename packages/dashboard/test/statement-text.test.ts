import { readStatement, statementText } from '../src/reports/statement-text.ts';

test('a copied statement is read with its parameters', () => {
  const sql = 'SELECT count()\nFROM events\nWHERE site_id = {site:String}';
  const params = { site: "it's {1}", values: ['a\nb', '-- params: {}'] };
  expect(readStatement(`\n${statementText({ of: 'stats', sql, params })}\n`)).toEqual({
    query: `-- stats\n${sql}`,
    params,
  });
});

test.each(['SELECT 1', 'SELECT 1 -- params: {}', '-- params: {}\nSELECT 1'])(
  '%j has no line of parameters',
  (query) => {
    expect(readStatement(query)).toEqual({ query });
  },
);

test.each(['SELECT 1\n-- params:', 'SELECT 1\n-- params: [1]', 'SELECT 1\n-- params: {"a": }'])(
  'the parameters of %j are wrong',
  (query) => {
    expect(readStatement(query)).toEqual({ query, isWrong: true });
  },
);
