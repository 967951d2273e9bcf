import type { Target } from '../scenarios/scenario.ts';

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** The ratio of two figures of the same round, for each round. A slow phase of the machine affects both figures. */
export function ratiosByRound(figures: readonly number[], beside: readonly number[]): readonly number[] {
  return figures.map((figure, round) => figure / (beside[round] ?? Number.NaN));
}

/** The spread of `ratiosByRound`. */
export function ratios(figures: readonly number[], beside: readonly number[]): Spread {
  return spreadOf(ratiosByRound(figures, beside));
}

/** The geometric mean of ratios, with its 95 % confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** The distance from the mean to the upper end of the interval, as a share of the mean. NaN for fewer than four ratios. */
  readonly halfWidth: number;
}

const NORMAL_97_5 = 1.96;
const RATIOS_MIN = 4;

/** The interval by Student's t-distribution, computed on the logarithms of the ratios. */
export function intervalOf(found: readonly number[]): Interval {
  const logs = found.map(Math.log);
  const count = logs.length;
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1);
  const half = count < RATIOS_MIN ? Number.NaN : studentsT(count - 1) * Math.sqrt(variance / count);
  const at = Math.exp;
  return { mean: at(mean), low: at(mean - half), high: at(mean + half), halfWidth: at(half) - 1 };
}

/** The 97.5 % quantile of Student's t-distribution, by the Cornish-Fisher expansion. Its error is below 0.03 for three or more degrees of freedom. */
function studentsT(degrees: number): number {
  const z = NORMAL_97_5;
  return (
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3)
  );
}

/** Formats an interval as `0.57 (0.55-0.59)`: the mean and the 95 % confidence interval. */
export function showInterval({ mean, low, high, halfWidth }: Interval): string {
  const interval = Number.isNaN(halfWidth) ? 'no interval' : `${showNumber(low, 2)}-${showNumber(high, 2)}`;
  return `${showNumber(mean, 2)} (${interval})`;
}

/** Formats a spread as `12.3 (11.9-14.0)`: the median, the lowest and the highest value. */
export function showSpread({ median, min, max }: Spread, digits = 1): string {
  return `${showNumber(median, digits)} (${showNumber(min, digits)}-${showNumber(max, digits)})`;
}

export function showNumber(value: number, digits = 1): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const atMost = (what: string, found: number, max: number): Target => ({
  what,
  wanted: `<= ${max} ms`,
  found: `${showNumber(found, 0)} ms`,
  met: found <= max,
});

/** The target for a ratio: its mean is at most `max`. */
export const ratioAtMost = (what: string, found: Interval, max: number): Target => ({
  what,
  wanted: `<= ${showNumber(max, 2)} times`,
  found: `${showInterval(found)} times`,
  met: found.mean <= max,
});
