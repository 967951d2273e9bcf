import type { Parameters } from '../parameters.ts';
import type { Period } from '../period.ts';

/** SQL fragments for rows of `records` and the visits that they belong to (docs/decisions/0035). */

export const OF_SITE = "outcome = 'row' AND site_id = {site:String}";
/** A visit with stamps is at most this long: the enricher marks longer visits. */
export const VISIT_MS_MAX = 24 * 3600_000;
/** How far before and after the period rows of its visits are read. Visits that go on beyond it are found by `visitSourceOf`. */
export const SPAN_MS = 2 * VISIT_MS_MAX;

/** A moment relative to the start or the end of the period. */
export function timeAt(end: 'from' | 'to', offsetMs: number): string {
  const moment = `{${end}:Int64}${offsetMs === 0 ? '' : ` ${offsetMs < 0 ? '-' : '+'} ${Math.abs(offsetMs)}`}`;
  return `fromUnixTimestamp64Milli(${moment})`;
}

/** The visitors near the period of whom a late hit has moved or joined sessions. The hour is that of a row within the session. */
export const MOVED_VISITORS = `SELECT visitor_id FROM moved_hours
      WHERE site_id = {site:String} AND hour >= toStartOfHour(${timeAt('from', -SPAN_MS)}) AND hour < ${timeAt('to', SPAN_MS)}`;

/** The sessions near the period whose IDs changed after some of their rows were stored, as two arrays. */
export const FIND_MOVED = `(
  SELECT (groupArray(fragment_id), groupArray(session_id))
  FROM
  (
    SELECT '' AS fragment_id, '' AS session_id
    UNION ALL
    SELECT fragment_id, session_id
    FROM session_moves
    WHERE site_id = {site:String} AND made_for IN
    (
      ${MOVED_VISITORS}
    )
  )
)`;
/** The same if there are no such visitors. `session_moves` would read the rows of moved sessions of all times. */
export const NONE_MOVED = "([''], [''])";
/** The session ID of a row, as in `events`. */
export const SESSION_ID = 'transform(records.session_id, moved.1, moved.2)';
/**
 * The session IDs, as stored in rows, of visits whose stamps are not right: the enricher or a check has flagged them, their ID has changed, or one of
 * their rows has no stamp (it was stored before stamps were introduced, or comes from a dump).
 */
export const COMPUTED = `SELECT session_id FROM visits_computed WHERE site_id = {site:String} AND day >= {first_day:Date} AND day <= {last_day:Date}
      UNION ALL SELECT arrayJoin(moved.1)
      UNION ALL SELECT session_id FROM records
      WHERE ${OF_SITE} AND visit_stamp = 0 AND bot = '' AND session_id != ''
        AND timestamp >= ${timeAt('from', -SPAN_MS)} AND timestamp < ${timeAt('to', SPAN_MS)}`;

/** The result of `FIND_MOVED`: the IDs that rows have, and those of their sessions. Undefined: there are too many for a parameter. */
export type Moved = readonly [stored: readonly string[], sessions: readonly string[]] | undefined;

/** The expression `moved`, which `SESSION_ID` and `COMPUTED` use. */
export function movedSql(moved: Moved, parameters: Parameters): string {
  if (moved === undefined) return `${FIND_MOVED} AS moved`;
  const [stored, sessions] = moved;
  return `(${parameters.put('stored', 'Array(String)', stored)}, ${parameters.put('moved', 'Array(String)', sessions)}) AS moved`;
}

/** Adds the parameters of `COMPUTED`. */
export function putDays({ fromMs, toMs }: Period, parameters: Parameters): void {
  parameters.put('first_day', 'Date', dayOf(fromMs - SPAN_MS));
  parameters.put('last_day', 'Date', dayOf(toMs + SPAN_MS));
}

/** The last day of ClickHouse's type Date. */
const DATE_MS_MAX = Date.UTC(2149, 5, 6);

/** The day in UTC as a value of the type Date, which begins in 1970. */
export function dayOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), DATE_MS_MAX)).toISOString().slice(0, 10);
}
