import type { Analytics } from '@weir/ports/analytics';
import { type AskedScope, SESSIONS, scopeSql, type VisitSource } from '../report-sql.ts';
import {
  dayOf,
  FIND_MOVED,
  MOVED_VISITORS,
  NONE_MOVED,
  OF_SITE,
  putDays,
  SESSION_ID,
  SPAN_MS,
  timeAt,
  VISIT_MS_MAX,
} from './visit-rows.ts';

const between = (from: string, to: string): string => `timestamp >= ${from} AND timestamp < ${to}`;
const BEFORE = between(timeAt('from', -SPAN_MS), timeAt('from', -VISIT_MS_MAX));
const FIRST = between(timeAt('from', 0), timeAt('from', VISIT_MS_MAX));
const LAST = between(timeAt('to', -VISIT_MS_MAX), timeAt('to', 0));
const AFTER = between(timeAt('to', VISIT_MS_MAX), timeAt('to', SPAN_MS));

/**
 * Whether the rows near the period suffice for exact numbers of its visits. They do not if
 * - a visit has rows in the period, and more than a day before or after it (`long`). Two hits of such a visit are at most a day apart, so it has
 *   rows on the day at the edge of the period and on the second day beyond it.
 * - retention has removed rows (`expired`), or a visit is in `visits_computed` for another reason than its rows (`flagged`), for example
 *   because an erasure has removed some of them.
 */
const checkSql = (moved: string): string => `WITH
${moved} AS moved
SELECT
  moved.1 AS stored,
  moved.2 AS sessions,
  (
    SELECT count() FROM
    (
      SELECT ${SESSION_ID} AS id FROM records
      WHERE ${OF_SITE} AND bot = '' AND records.session_id != '' AND (${[BEFORE, FIRST, LAST, AFTER].join(' OR ')})
      GROUP BY id
      HAVING (countIf(${BEFORE}) > 0 AND countIf(${FIRST}) > 0) OR (countIf(${LAST}) > 0 AND countIf(${AFTER}) > 0)
    )
  ) AS long,
  (
    SELECT count() FROM
    (
      SELECT 1 FROM records
      WHERE site_id = {site:String} AND outcome = 'expired' AND timestamp >= ${timeAt('from', -SPAN_MS)} AND timestamp < ${timeAt('to', SPAN_MS)}
      LIMIT 1
    )
  ) AS expired,
  (
    SELECT count() FROM visits_computed
    WHERE site_id = {site:String} AND day >= {from_day:Date} AND day <= {to_day:Date} AND (day, session_id) NOT IN
    (
      SELECT toDate(timestamp, 'UTC'), records.session_id FROM records
      WHERE ${OF_SITE} AND visit_stamp = 2 AND timestamp >= ${timeAt('from', -SPAN_MS)} AND timestamp < ${timeAt('to', SPAN_MS)}
    )
  ) AS flagged`;

/** More moved sessions than this are found again by the statement of the report. ClickHouse limits a parameter to 128 KiB. */
const MOVED_MAX = 1_000;

/** Decides where a report takes its visits from. The rows of the period are much faster than `sessions`. */
export async function visitSourceOf(scope: AskedScope, analytics: Pick<Analytics, 'userQuery'>): Promise<VisitSource> {
  // Rows of bots have no stamps.
  if (scope.withBots) return SESSIONS;
  const { parameters } = scopeSql(scope);
  putDays(scope.period, parameters);
  const { site, from, to, first_day, last_day } = parameters.values;
  const days = { from_day: dayOf(scope.period.fromMs), to_day: dayOf(scope.period.toMs), first_day, last_day };
  const period = { site, from, to };
  const movers = await analytics.userQuery(`${MOVED_VISITORS} LIMIT 1`, period);
  const check = checkSql(movers.rows.length > 0 ? FIND_MOVED : NONE_MOVED);
  const { rows } = await analytics.userQuery(check, { ...period, ...days });
  const { stored = [], sessions = [], ...counts } = rows[0] ?? {};
  if (Object.values(counts).some((count) => Number(count) > 0)) return SESSIONS;
  const moved = [stored, sessions] as [readonly string[], readonly string[]];
  return { of: 'rows', moved: moved[0].length > MOVED_MAX ? undefined : moved };
}
