import { presentBucket, shareAhead } from '../src/overview/unfinished.ts';
import { bundlePages } from './rendered-page.ts';

const NOON = Date.parse('2026-11-29T12:00:00Z');
const DAYS = [27, 28, 29, 30].map((day) => ({
  start: `2026-11-${day}T00:00:00Z`,
  end: `2026-11-${day + 1}T00:00:00Z`,
  pageviews: day < 29 ? 1 : 0,
  events: 0,
}));

test('the share of a period that is still to come', () => {
  expect(shareAhead({ from: '2026-11-28T00:00:00Z', to: '2026-11-30T00:00:00Z' }, NOON)).toBe(0.25);
  expect(shareAhead({ from: '2026-11-27T00:00:00Z', to: '2026-11-28T00:00:00Z' }, NOON)).toBe(0);
  expect(shareAhead({ from: '2026-12-01T00:00:00Z', to: '2026-12-02T00:00:00Z' }, NOON)).toBe(1);
  expect(shareAhead(undefined, NOON)).toBe(0);
});

test('the present bucket is the first that is not over', () => {
  expect(presentBucket(DAYS, NOON)).toBe(2);
  expect(presentBucket(DAYS.slice(0, 2), NOON)).toBe(2);
  expect(presentBucket([], NOON)).toBe(0);
  const hour = { start: '2026-11-29T10:00:00Z', end: '2026-11-29T11:00:00Z', pageviews: 1, events: 0 };
  const part = { ...hour, start: hour.end, end: '2026-11-29T11:42:00Z' };
  expect([presentBucket([hour], NOON), presentBucket([hour, part], NOON)]).toEqual([1, 1]);
  // The browser's clock is two days slow.
  expect(presentBucket(DAYS, NOON - 2 * 86_400_000)).toBe(1);
});

test('a lower count is not marked as bad while the rest of the period can make up for it', async () => {
  const { render } = await bundlePages('overview/metric-tiles.tsx');
  const tone = (name: string, now: number, ahead: number): string | undefined =>
    /class="change (\w+)"/.exec(render('Change', '/', {}, { name, now, before: 100, ahead }).html)?.[1];
  expect(tone('visitors', 60, 0.5)).toBe('same');
  expect(tone('visitors', 40, 0.5)).toBe('bad');
  expect(tone('visitors', 60, 0)).toBe('bad');
  expect(tone('visitors', 120, 0.5)).toBe('good');
  // A mean does not grow with the period.
  expect(tone('visit_duration', 60, 0.5)).toBe('bad');
  expect(tone('bounce_rate', 60, 0.5)).toBe('good');
});
