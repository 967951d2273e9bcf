/**
 * SQL conditions on the column `timestamp` of `records` and of its views. The parameters are SQL expressions for a time in Unix milliseconds. The
 * primary key of `records` contains the hour, but ClickHouse does not derive a condition on the hour from a condition on `timestamp`. So these
 * conditions add a hint on the hour (`indexHint`). Without it, a statement would read the whole history of its sites.
 */

/** The highest value of ClickHouse's type DateTime, which begins in 1970. */
const DATE_TIME_MS_MAX = 4_294_967_295_000;
const timeOf = (ms: string): string => `fromUnixTimestamp64Milli(${ms})`;
// The hours in the primary key are hours of UTC. Without the zone 'UTC', a server whose own zone has half hours would compute other hours.
/** The hour of a time, as a DateTime. For a time before 1970 or after 2106, it is the first or the last hour that DateTime can hold. */
export const hourOf = (ms: string): string =>
  `toStartOfHour(fromUnixTimestamp64Milli(least(greatest(${ms}, 0), toInt64(${DATE_TIME_MS_MAX})), 'UTC'))`;

/** The condition for the rows from `fromMs` (inclusive) to `toMs` (exclusive), without the hint. */
export const isBetween = (fromMs: string, toMs: string): string =>
  `timestamp >= ${timeOf(fromMs)} AND timestamp < ${timeOf(toMs)}`;

/** A condition on the hour. It selects all rows that `isBetween` selects, and further rows of the first and the last hour. */
export const hoursBetween = (fromMs: string, toMs: string): string =>
  `toStartOfHour(timestamp) >= ${hourOf(fromMs)} AND toStartOfHour(timestamp) <= ${hourOf(toMs)}`;

/** The condition for the rows from `fromMs` (inclusive) to `toMs` (exclusive), with the hint. */
export const rowsBetween = (fromMs: string, toMs: string): string =>
  `${isBetween(fromMs, toMs)} AND indexHint(${hoursBetween(fromMs, toMs)})`;

/** The condition for the rows that `rowsBetween` does not select. */
export const rowsOutside = (fromMs: string, toMs: string): string =>
  `(timestamp < ${timeOf(fromMs)} OR timestamp >= ${timeOf(toMs)}) AND indexHint(toStartOfHour(timestamp) <= ${hourOf(fromMs)} OR toStartOfHour(timestamp) >= ${hourOf(toMs)})`;
