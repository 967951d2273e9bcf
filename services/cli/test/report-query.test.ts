import { metricCells, reportQuery } from '../src/commands/reports/report-query.ts';

const metrics = { visits: 2, pageviews: 3, events: 0, bounce_rate: 0.5, visit_duration: 61, views_per_visit: 1.5 };

test('an estimated number of visitors has ≈ before it, and an exact one does not', () => {
  const cells = [2, 3, 0, '50.0%', '1m 1s', 1.5];
  expect(metricCells({ visitors: 12_345, ...metrics })).toEqual([12_345, ...cells]);
  const estimate = { value: 5_241_893, exact: false, error: 0.01 } as const;
  expect(metricCells({ visitors: estimate, ...metrics })).toEqual(['≈5241893', ...cells]);
});

test('an empty value is sent, because Weir refuses it', () => {
  expect(reportQuery({ period: '', filter: [] }, { limit: '', order: undefined })).toBe('period=&limit=');
});

test('--exact asks for exact=1', () => {
  expect(reportQuery({ period: '12mo', filter: [], exact: true }, {})).toBe('period=12mo&exact=1');
  expect(reportQuery({ period: '12mo', filter: [] }, {})).toBe('period=12mo');
});
