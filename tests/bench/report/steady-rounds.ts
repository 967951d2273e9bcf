import { intervalOf, showNumber } from './spread.ts';

/** An interval is narrow enough if the distance from the mean to its upper end is at most this share of the mean. */
const HALF_WIDTH_MAX = 0.05;
const ROUNDS_MIN = 5;

/** A measured figure compared with a baseline. */
export interface Comparison {
  readonly name: string;
  /** The ratio of the figure to that of the baseline. The list has one number for each round. */
  readonly ratios: readonly number[];
}

interface SteadyRounds {
  readonly roundsMax: number;
  /** Measures the figure and the baseline of each comparison once. Resolves with a text about the figures. */
  measure(round: number): Promise<string>;
  /** All comparisons, with the ratios of all rounds so far. */
  comparisons(): readonly Comparison[];
  note(text: string): void;
}

/**
 * Repeats `measure` until the 95 % interval of each ratio is within ± 5 % of the ratio, but at least 5 times. Stops after `roundsMax` rounds
 * even if an interval is wider. Resolves with the number of rounds.
 */
export async function repeatUntilSteady({ roundsMax, measure, comparisons, note }: SteadyRounds): Promise<number> {
  for (let round = 1; round <= roundsMax; round++) {
    const text = await measure(round - 1);
    const widest = Math.max(...comparisons().map(halfWidthOf));
    const interval = Number.isNaN(widest) ? 'no interval yet' : `widest interval ± ${showNumber(100 * widest)} %`;
    note(`round ${round}: ${text}; ${interval}`);
    if (round >= ROUNDS_MIN && comparisons().every(isSteady)) return round;
  }
  return roundsMax;
}

/** Says for the report how the printed ratios were computed, and which intervals are too wide. */
export function precisionText(rounds: number, comparisons: readonly Comparison[]): string {
  const wide = comparisons.filter((comparison) => !isSteady(comparison));
  const limit = `± ${100 * HALF_WIDTH_MAX} %`;
  const precision =
    wide.length === 0
      ? `The 95 % intervals of all ratios are within ${limit}.`
      : `After ${rounds} rounds, the 95 % intervals of these ratios were not within ${limit}: ${wide.map(({ name }) => name).join('; ')}.`;
  return `A ratio is the geometric mean of the ratios of the rounds, with its 95 % interval (Student's t). ${precision}`;
}

const halfWidthOf = ({ ratios }: Comparison): number => intervalOf(ratios).halfWidth;

/** Returns false for fewer than four ratios, because they have no interval. */
const isSteady = (comparison: Comparison): boolean => halfWidthOf(comparison) <= HALF_WIDTH_MAX;
