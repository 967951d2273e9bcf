import { intervalOf } from './spread.ts';

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
  expect(intervalOf([0.5, 0.6, 0.5]).halfWidth).toBeNaN();
});
