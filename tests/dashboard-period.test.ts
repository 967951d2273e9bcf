import { shiftedPeriod, touchedDays } from '../packages/dashboard/src/reports/period/period-shift.ts';

const TODAY = '2026-03-15';

test.each([
  [{ period: 'today' }, { period: 'yesterday' }, undefined],
  [{ period: '24h' }, { period: 'yesterday' }, undefined],
  [{ period: 'yesterday' }, { from: '2026-03-13', to: '2026-03-13' }, { period: 'today' }],
  [{ period: '7d' }, { from: '2026-03-02', to: '2026-03-08' }, undefined],
  [{ period: '30d' }, { from: '2026-01-15', to: '2026-02-13' }, undefined],
  [{ from: '2026-03-02', to: '2026-03-08' }, { from: '2026-02-23', to: '2026-03-01' }, { period: '7d' }],
  [{ from: '2026-03-05', to: '2026-03-11' }, { from: '2026-02-26', to: '2026-03-04' }, { period: '7d' }],
  [{ period: 'month' }, { from: '2026-02-01', to: '2026-02-28' }, undefined],
  [{ from: '2026-02-01', to: '2026-02-28' }, { from: '2026-01-01', to: '2026-01-31' }, { period: 'month' }],
  [
    { from: '2024-02-01', to: '2024-02-29' },
    { from: '2024-01-01', to: '2024-01-31' },
    { from: '2024-03-01', to: '2024-03-31' },
  ],
  [{ period: 'year' }, { from: '2025-01-01', to: '2025-12-31' }, undefined],
  [{ from: '2025-01-01', to: '2025-12-31' }, { from: '2024-01-01', to: '2024-12-31' }, { period: 'year' }],
  [{ period: '12mo' }, { from: '2024-04-01', to: '2025-03-31' }, undefined],
  [{ period: 'all' }, undefined, undefined],
  [{ from: '1970-01-01', to: '1970-01-02' }, undefined, { from: '1970-01-03', to: '1970-01-04' }],
  [{ from: '2026-03-20', to: '2026-03-21' }, undefined, undefined],
] as const)('the periods before and after %j', (asked, before, after) => {
  expect([shiftedPeriod(asked, TODAY, -1), shiftedPeriod(asked, TODAY, 1)]).toEqual([before, after]);
});

test.each([
  [{ period: 'today' }, TODAY, TODAY],
  [{ period: '24h' }, '2026-03-14', TODAY],
  [{ period: '7d' }, '2026-03-09', TODAY],
  [{ period: 'month' }, '2026-03-01', TODAY],
  [{ from: '2026-02-03', to: '2026-02-05' }, '2026-02-03', '2026-02-05'],
  [{ period: 'all' }, '', TODAY],
] as const)('the days of the period %j', (asked, from, to) => {
  expect(touchedDays(asked, TODAY)).toEqual({ from, to });
});
