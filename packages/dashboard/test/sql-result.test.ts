import { bundlePages } from './rendered-page.ts';

const ROWS = [
  { name: 'rate', value: 0.0004 },
  { name: 'year', value: 2026 },
  { name: 'none', value: null },
  { name: 'zero', value: 0 },
];

test('a SQL result has the exact numbers, and a dash for NULL', async () => {
  const { render } = await bundlePages('sql/sql-table.tsx', 'sql/sql-chart.tsx');
  const columns = [
    { name: 'name', type: 'String' },
    { name: 'value', type: 'Nullable(Float64)' },
  ];
  const { html: table } = render('SqlTable', '/dashboard/sql', {}, { columns, rows: ROWS });
  const cells = [...table.matchAll(/<td class="(\w+)">([^<]*)</g)].map(([, kind, text]) => `${kind} ${text}`);
  expect(cells.filter((cell) => cell.startsWith('number'))).toEqual([
    'number 0.0004',
    'number 2026',
    'number –',
    'number 0',
  ]);

  const { html: chart } = render('SqlChart', '/dashboard/sql', {}, { columns: ['name', 'value'], rows: ROWS });
  const bars = chart.split('<li ').slice(1);
  const numbers = bars.map((bar) => /class="bar-number">([^<]*)</.exec(bar)?.[1]);
  expect(numbers).toEqual(['0.0004', '2026', '–', '0']);
  expect(bars.map((bar) => bar.includes('class="bar"'))).toEqual([true, true, false, true]);
});
