import { createFormats } from '../src/i18n/formats.ts';
import { canAddFilter, intervalsOf, readReportState, withFilter } from '../src/reports/report-state.ts';
import { bundlePages } from './rendered-page.ts';

test.each([
  ['from=2026-02-28&to=2026-03-01', { from: '2026-02-28', to: '2026-03-01' }],
  ['from=2026-13-01&to=2026-13-02', { period: '30d' }],
  ['from=2026-02-30&to=2026-03-01', { period: '30d' }],
  ['from=2026-01-01', { period: '30d' }],
])('the address %s asks for %j', (address, query) => {
  expect(readReportState(new URLSearchParams(address)).query).toEqual(query);
});

test.each([
  ['period=30d', ['hour', 'day', 'week', 'month']],
  ['period=90d', ['day', 'week', 'month']],
  ['period=all', ['day', 'week', 'month']],
  ['from=2026-01-01&to=2026-03-24', ['hour', 'day', 'week', 'month']],
  ['from=2026-01-01&to=2026-03-25', ['day', 'week', 'month']],
  ['from=2020-01-01&to=2026-01-01', ['week', 'month']],
])('the intervals of %s are %j', (address, intervals) => {
  expect(intervalsOf(readReportState(new URLSearchParams(address)).query)).toEqual(intervals);
});

test('a second filter that excludes values keeps the first; other filters are replaced', () => {
  const filter = (operator: 'is' | 'is_not' | 'contains_not', ...values: readonly string[]) => ({
    ...{ dimension: 'page', operator, values },
  });
  const first = [filter('is', '/a'), filter('is_not', '/b'), filter('contains_not', 'c')];
  expect(withFilter(first, filter('is_not', '/d'))).toEqual([first[0], first[2], filter('is_not', '/b', '/d')]);
  expect(withFilter(first, filter('contains_not', 'c'))).toEqual(first);
  expect(withFilter(first, filter('is', '/d'))).toEqual([first[1], first[2], filter('is', '/d')]);
});

test('a filter has at most 50 values, so a second filter that excludes values stays beside a full one', () => {
  const values = Array.from({ length: 50 }, (_, page) => `/${page}`);
  const filter = (...pages: readonly string[]) => ({
    ...{ dimension: 'page', operator: 'is_not' as const, values: pages },
  });
  expect(withFilter([filter(...values.slice(1))], filter('/0'))).toEqual([filter(...values.slice(1), '/0')]);
  expect(withFilter([filter(...values)], filter('/0'))).toEqual([filter(...values)]);
  expect(withFilter([filter(...values)], filter('/50'))).toEqual([filter(...values), filter('/50')]);
});

test('a visitor can have viewed several pages, so filters on viewed pages are not replaced', () => {
  const viewed = (operator: 'is' | 'is_not', ...values: string[]) => ({ dimension: 'viewed_page', operator, values });
  const first = [viewed('is', '/a')];
  expect(withFilter(first, viewed('is', '/b'))).toEqual([viewed('is', '/a'), viewed('is', '/b')]);
  expect(withFilter(first, viewed('is', '/a'))).toEqual(first);
  expect(withFilter([viewed('is_not', '/a')], viewed('is_not', '/b'))).toEqual([viewed('is_not', '/a', '/b')]);
});

test('at most 20 filters can be added; one that replaces another can always be added', () => {
  const viewed = (page: number) => ({ dimension: 'viewed_page', operator: 'is' as const, values: [`/${page}`] });
  const filters = Array.from({ length: 20 }, (_, page) => viewed(page));
  expect(canAddFilter(filters.slice(1), viewed(20))).toBe(true);
  expect(canAddFilter(filters, viewed(20))).toBe(false);
  expect(canAddFilter(filters, viewed(3))).toBe(true);
});

test('in a time zone that the browser does not know, times are in UTC, and a note says so', async () => {
  const { time } = createFormats('en');
  const noon = '2026-03-01T12:00:00Z';
  expect(time(noon, 'Mars/Base', 'full')).toBe(time(noon, 'UTC', 'full'));
  const { render } = await bundlePages('app/zone-note.tsx');
  const note = (zone: string) => render('ZoneNote', '/dashboard', {}, { zone }).html;
  expect([note('Mars/Base'), note('Asia/Tokyo')]).toEqual([
    expect.stringContaining('does not know the time zone Mars/Base. Times are in UTC.'),
    '',
  ]);
});
