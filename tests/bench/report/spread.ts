/** The median, the lowest and the highest value of a figure over all rounds. */
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

/** The ratios of two figures, round by round, so that a slow phase of the machine affects both. */
export function ratios(figures: readonly number[], beside: readonly number[]): Spread {
  return spreadOf(figures.map((figure, round) => figure / (beside[round] ?? Number.NaN)));
}

/** Formats a spread as `12.3 (11.9-14.0)`: the median, the lowest and the highest value. */
export function showSpread({ median, min, max }: Spread, digits = 1): string {
  return `${showNumber(median, digits)} (${showNumber(min, digits)}-${showNumber(max, digits)})`;
}

export function showNumber(value: number, digits = 1): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
