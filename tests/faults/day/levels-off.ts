/** The values of one measure, one array for each quarter of the measured hours. */
export type Quarters = readonly [readonly number[], readonly number[], readonly number[], readonly number[]];

/**
 * The last quarter may exceed the third one by at most this share. Every growth that Weir limits (by windows, retention or sizes of caches) ends
 * before the first sample or in the first quarter. Unlimited growth exceeds the share. For example, the measured hours of `npm run day` are the
 * hours 24 to 48 after the start. The middle of the third quarter is hour 39, and that of the last one is hour 45. A use that grows evenly from zero
 * is then 45 / 39 times as high, which is 15 % more.
 */
const GROWTH_SHARE_MAX = 0.05;

export const RULE = `the median of the last quarter is at most ${GROWTH_SHARE_MAX * 100} % above that of the third`;

export interface Level {
  /** The median of each quarter. */
  readonly medians: readonly number[];
  readonly most: number;
  readonly levelsOff: boolean;
}

/**
 * Compares the medians of the last two quarters. `slack`: a growth up to this value is ignored, because small values can vary by more than
 * GROWTH_SHARE_MAX.
 */
export function judgeLevel(quarters: Quarters, slack = 0): Level {
  const medians = quarters.map(median);
  const [, , third = 0, last = 0] = medians;
  return {
    medians,
    most: Math.max(...quarters.flat()),
    levelsOff: last - third <= Math.max(third * GROWTH_SHARE_MAX, slack),
  };
}

export function quartersOf(values: readonly number[]): Quarters {
  const at = (part: number): number => Math.floor((values.length * part) / 4);
  const quarter = (part: number): readonly number[] => values.slice(at(part), at(part + 1));
  return [quarter(0), quarter(1), quarter(2), quarter(3)];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
