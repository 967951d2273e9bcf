import { bundlePages } from './rendered-page.ts';

const stateOf = (query: object) => ({ query, filters: [], metric: 'visitors' });

test('a period of one day shows its date once', async () => {
  const { render } = await bundlePages('reports/period/period-menu.tsx');
  const menu = (from: string, to: string): string =>
    render('PeriodMenu', '/dashboard', {}, { state: stateOf({ from, to }) }).html;
  expect(menu('2026-11-01', '2026-11-02')).toContain(' – ');
  expect(menu('2026-11-01', '2026-11-01')).not.toContain(' – ');
});
