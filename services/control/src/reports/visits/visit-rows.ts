import { hourOf, rowsBetween, rowsOutside } from '../../rows-between.ts';
import type { Parameters } from '../parameters.ts';
import type { Period } from '../period.ts';

/** SQL fragments for rows of `records` and the visits that they belong to (docs/decisions/0035). */

export const OF_SITE = "outcome = 'row' AND site_id = {site:String}";
export const HOUR_MS = 3600_000;
/** A visit whose stamps (docs/glossary.md) can be used is at most this long. The enricher flags longer visits. */
export const VISIT_MS_MAX = 24 * HOUR_MS;
/**
 * Up to this long before and after the period, reports search for unusual visits, for moved sessions (docs/glossary.md), and for the visits to which
 * rows of bots belong. `visitSourceOf` (visit-source.ts) finds out whether a visit continues for more than a day beyond the period.
 */
export const SPAN_MS = 2 * VISIT_MS_MAX;

/** A moment relative to the start or the end of the period, in Unix milliseconds. */
export function msAt(end: 'from' | 'to', offsetMs: number): string {
  return `{${end}:Int64}${offsetMs === 0 ? '' : ` ${offsetMs < 0 ? '-' : '+'} ${Math.abs(offsetMs)}`}`;
}
/** The same moment as a ClickHouse time. */
export const timeAt = (end: 'from' | 'to', offsetMs: number): string =>
  `fromUnixTimestamp64Milli(${msAt(end, offsetMs)})`;

/** The span, in whole UTC days, whose rows a report does not read, because it reads slots (docs/glossary.md) instead. In Unix milliseconds. */
export interface SkippedSpan {
  readonly fromMs: number;
  readonly toMs: number;
}
/**
 * The period in whole hours, for the parameters `from` and `to` of `movedHours`. `movedHours` compares hours, so it selects the same rows as with the
 * exact period. Periods that differ by less than an hour often have the same parameters, and so the same query.
 */
export function hoursOf({ fromMs, toMs }: Period): { readonly from: number; readonly to: number } {
  return { from: Math.floor(fromMs / HOUR_MS) * HOUR_MS, to: Math.ceil(toMs / HOUR_MS) * HOUR_MS };
}

/**
 * The rows of `moved_hours` near the period. Each has a visitor whose sessions a late hit has moved or joined, and the hour of one row of such a
 * session.
 */
export const movedHours = (skips: boolean): string => `moved_hours
      WHERE site_id = {site:String} AND hour >= ${hourOf(msAt('from', -SPAN_MS))} AND hour < ${timeAt('to', SPAN_MS)}${
        skips
          ? ' AND (hour < fromUnixTimestamp64Milli({skip_from:Int64}) OR hour >= fromUnixTimestamp64Milli({skip_to:Int64}))'
          : ''
      }`;

/**
 * Selects the visitors near the period whose sessions have moved (`made_for`). For each of them, selects the session IDs that are stored in rows
 * (`fragment_id`; only IDs that Weir has made). `began` and `ended` are the first and the last time of the rows with this ID.
 */
export const movedFragments = (skips: boolean): string => {
  const movedVisitors = `SELECT visitor_id FROM ${movedHours(skips)}`;
  return `SELECT made_for, fragment_id, min(began_at) AS began, max(ended_at) AS ended
            FROM
            (
              SELECT visitor_id AS made_for, session_id AS fragment_id,
                if(visit_stamp = 1, least(timestamp, visit_started), timestamp) AS began_at, timestamp AS ended_at
              FROM records
              PREWHERE visitor_key IN (SELECT sipHash64(visitor_id) FROM (${movedVisitors}))
              WHERE (site_id, toStartOfHour(timestamp), visitor_id) IN
                (
                  SELECT site_id, arrayJoin(arrayMap(n -> addHours(hour, n), range(-6, 7))) AS near, visitor_id FROM moved_hours
                  WHERE site_id = {site:String} AND visitor_id IN (${movedVisitors})
                )
                AND ${OF_SITE} AND bot = '' AND source != 'server' AND match(session_id, '^s_[0-9a-f]{32}$')
              UNION ALL
              SELECT made_for, session_id AS fragment_id, toDateTime64(started_at, 3, 'UTC') AS began_at, toDateTime64(ended_at, 3, 'UTC') AS ended_at
              FROM sessions_kept
              WHERE site_id = {site:String} AND ended_at != 0 AND made_for IN (${movedVisitors})
            )
            GROUP BY made_for, fragment_id`;
};

/**
 * The sessions near the period whose IDs changed after some of their rows were stored, as two arrays: the stored IDs and the present IDs. This is the
 * view `session_moves` (schemas/clickhouse/023_moves_of_sites.sql), limited to the visitors near the period: the view itself reads the rows of all
 * visitors with moved sessions. `movedSessions` (moved-sessions.ts) computes the same from fragments.
 */
const findMoved = (skips: boolean): string => `(
  SELECT (groupArray(fragment_id), groupArray(session_id))
  FROM
  (
    SELECT '' AS fragment_id, '' AS session_id
    UNION ALL
    SELECT fragment_id, session_id
    FROM
    (
      SELECT fragment_id,
        concat('s_', substring(lower(hex(SHA256(concat(
          {site:String}, '\\0', made_for, '\\0', toString(intDiv(toUnixTimestamp64Milli(min(began) OVER session), 1800000))
        )))), 1, 32)) AS session_id
      FROM
      (
        SELECT made_for, fragment_id, began, sum(is_new) OVER (PARTITION BY made_for ORDER BY began, fragment_id) AS nth
        FROM
        (
          SELECT made_for, fragment_id, began,
            began > addMinutes(max(ended) OVER (
              PARTITION BY made_for ORDER BY began, fragment_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 30) AS is_new
          FROM
          (
            ${movedFragments(skips)}
          )
        )
      )
      WINDOW session AS (PARTITION BY made_for, nth)
    )
    WHERE session_id != fragment_id
  )
)`;
export const FIND_MOVED = findMoved(false);
export const EXPIRED = "site_id = {site:String} AND outcome = 'expired'";
/** Rows without a stamp that belong to a session, except the rows of bots, which never have a stamp. */
export const UNSTAMPED = `${OF_SITE} AND visit_stamp = 0 AND bot = '' AND session_id != ''`;
export const nearPeriod = (skips: boolean, spanMs = SPAN_MS): string =>
  `${rowsBetween(msAt('from', -spanMs), msAt('to', spanMs))}${skips ? ` AND ${rowsOutside('{skip_from:Int64}', '{skip_to:Int64}')}` : ''}`;
/** The hash of a row without a visitor or a visit. */
export const NO_KEY = "sipHash64('')";

/** The unusual rows that `visitSourceOf` (visit-source.ts) has found near the period. Without such rows, statements omit the parts for them. */
export interface NearVisits {
  /**
   * Two arrays: the session IDs as stored in rows, and the present IDs of the same sessions. Undefined if there are too many for a
   * parameter.
   */
  readonly moved: readonly [stored: readonly string[], sessions: readonly string[]] | undefined;
  /** Whether there are rows that were stored before stamps were introduced, or come from a dump. */
  readonly hasUnstamped: boolean;
  /** The span whose rows the search left out, because the report reads `visit_slots` there. Undefined if there is no such span. */
  readonly skipped?: SkippedSpan | undefined;
}

/** No moved sessions. ClickHouse refuses empty arrays in this place, so the arrays have one empty text. */
export const NONE_MOVED = [[''], ['']] as const;

export const hasMoved = ({ moved }: NearVisits): boolean => moved === undefined || moved[0].length > 1;

/**
 * The expressions `moved`, `moved_from` and `moved_to`. The last two come from `moved`: `sessionKey` uses both, and `computedKeys` uses
 * `moved_from`. Empty if there are no moved sessions near the period.
 */
export function movedSql(near: NearVisits, parameters: Parameters): readonly string[] {
  if (!hasMoved(near)) return [];
  if (near.moved === undefined)
    return [`${near.skipped === undefined ? FIND_MOVED : findMoved(true)} AS moved`, MOVED_KEYS];
  const [stored, sessions] = near.moved;
  return [
    `(${parameters.put('stored', 'Array(String)', stored)}, ${parameters.put('moved', 'Array(String)', sessions)}) AS moved`,
    MOVED_KEYS,
  ];
}

export const MOVED_KEYS =
  'arrayMap(id -> sipHash64(id), moved.1) AS moved_from, arrayMap(id -> sipHash64(id), moved.2) AS moved_to';
/** The hash of the present session ID of a row, as in `events`. */
export const MOVED_KEY = 'transform(records.session_key, moved_from, moved_to)';
export const sessionKey = (near: NearVisits): string => (hasMoved(near) ? MOVED_KEY : 'records.session_key');

/**
 * The hashes of the session IDs, as stored in rows, of visits whose stamps are not valid: the visits are in `visits_computed`, their ID has
 * changed, or one of their rows has no stamp.
 */
export function computedKeys(near: NearVisits): string {
  const skips = near.skipped !== undefined;
  return [
    `SELECT sipHash64(session_id) FROM visits_computed WHERE site_id = {site:String} AND day >= {first_day:Date} AND day <= {last_day:Date}${outsideSkippedDays(skips)}`,
    ...(hasMoved(near) ? ['SELECT arrayJoin(moved_from)'] : []),
    ...(near.hasUnstamped ? [`SELECT session_key FROM records WHERE ${UNSTAMPED} AND ${nearPeriod(skips)}`] : []),
  ].join('\n      UNION ALL ');
}

const outsideSkippedDays = (skips: boolean): string =>
  skips ? ' AND (day < {skip_first_day:Date} OR day >= {skip_last_day:Date})' : '';

/** Adds the parameters of `computedKeys`, and those of the skipped span. */
export function putDays({ fromMs, toMs }: Period, skipped: SkippedSpan | undefined, parameters: Parameters): void {
  parameters.put('first_day', 'Date', dayOf(fromMs - SPAN_MS));
  parameters.put('last_day', 'Date', dayOf(toMs + SPAN_MS));
  if (skipped === undefined) return;
  parameters.put('skip_from', 'Int64', skipped.fromMs);
  parameters.put('skip_to', 'Int64', skipped.toMs);
  parameters.put('skip_first_day', 'Date', dayOf(skipped.fromMs));
  parameters.put('skip_last_day', 'Date', dayOf(skipped.toMs));
}

/** The last day of ClickHouse's type Date. */
const DATE_MS_MAX = Date.UTC(2149, 5, 6);

/** The day in UTC as a value of the type Date, which begins in 1970. */
export function dayOf(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), DATE_MS_MAX)).toISOString().slice(0, 10);
}
