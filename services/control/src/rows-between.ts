/**
 * Conditions for the time of rows of `records`, and of views of it. Moments are SQL expressions of Unix milliseconds. The primary key of `records`
 * has the hour, and ClickHouse does not derive a condition on the hour from one on `timestamp`. Without the hint of these conditions, a statement would
 * read the whole history of its sites.
 */

/** The highest value of ClickHouse's type DateTime, which begins in 1970. */
const DATE_TIME_MS_MAX = 4_294_967_295_000;
const timeOf = (ms: string): string => `fromUnixTimestamp64Milli(${ms})`;
// The primary key has hours of UTC. Without the zone, a server in a zone with half hours would compute other hours.
/** The hour of a moment as a DateTime. A moment before 1970 gives the first hour that the type has, and one after 2106 the last. */
export const hourOf = (ms: string): string =>
  `toStartOfHour(fromUnixTimestamp64Milli(least(greatest(${ms}, 0), toInt64(${DATE_TIME_MS_MAX})), 'UTC'))`;

/** The condition for rows from one moment on and before another one, without the hint. */
export const isBetween = (fromMs: string, toMs: string): string =>
  `timestamp >= ${timeOf(fromMs)} AND timestamp < ${timeOf(toMs)}`;

/** A condition on the hour, which all rows of `isBetween` meet. Other rows in the first and the last hour meet it too. */
export const hoursBetween = (fromMs: string, toMs: string): string =>
  `toStartOfHour(timestamp) >= ${hourOf(fromMs)} AND toStartOfHour(timestamp) <= ${hourOf(toMs)}`;

/** The condition for rows from one moment on and before another one. */
export const rowsBetween = (fromMs: string, toMs: string): string =>
  `${isBetween(fromMs, toMs)} AND indexHint(${hoursBetween(fromMs, toMs)})`;

/** The condition for the rows that `rowsBetween` does not select. */
export const rowsOutside = (fromMs: string, toMs: string): string =>
  `(timestamp < ${timeOf(fromMs)} OR timestamp >= ${timeOf(toMs)}) AND indexHint(toStartOfHour(timestamp) <= ${hourOf(fromMs)} OR toStartOfHour(timestamp) >= ${hourOf(toMs)})`;
