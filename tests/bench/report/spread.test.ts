import { intervalOf, ratioAtMost, showInterval } from './spread.ts';

// The quantiles (97.5 %) are from a table of Student's t-distribution.
test.each([
  [4, 3.182],
  [10, 2.262],
  [30, 2.045],
])('the interval of %i ratios uses the quantile %f of Student’s t', (count, quantile) => {
  const logs = Array.from({ length: count }, (_, n) => 0.01 * (n % 2 === 0 ? 1 : -1));
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const deviation = Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1));
  const { mean: ratio, halfWidth, low, high } = intervalOf(logs.map((log) => 0.5 * Math.exp(log)));
  expect(ratio).toBeCloseTo(0.5 * Math.exp(mean));
  expect(Math.log(1 + halfWidth) / ((quantile * deviation) / Math.sqrt(count))).toBeCloseTo(1, 1);
  expect(low).toBeLessThan(ratio);
  expect(high).toBeGreaterThan(ratio);
});

test('three ratios have no interval', () => {
  const interval = intervalOf([0.5, 0.5, 0.5]);
  expect(interval.halfWidth).toBeNaN();
  expect(showInterval(interval)).toBe('0.50 (no interval)');
});

test('the target of a ratio is met if the mean is at most the maximum', () => {
  const found = intervalOf([0.5, 0.5, 0.5, 0.5]);
  const target = { what: 'CPU', found: '0.50 (0.50-0.50) times' };
  expect(ratioAtMost('CPU', found, 0.51)).toEqual({ ...target, wanted: '<= 0.51 times', met: true });
  expect(ratioAtMost('CPU', found, 0.49)).toEqual({ ...target, wanted: '<= 0.49 times', met: false });
  expect(ratioAtMost('CPU', intervalOf([]), 1)).toMatchObject({ met: false });
});
