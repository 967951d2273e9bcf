import type { ReportTables } from '../../steady-tables.ts';
import { type AskedScope, SESSIONS, scopeSql, type VisitSource } from '../report-sql.ts';
import {
  dayOf,
  FIND_MOVED,
  MOVED_HOURS,
  MOVED_KEY,
  MOVED_KEYS,
  NEAR_PERIOD,
  NO_KEY,
  OF_SITE,
  putDays,
  SPAN_MS,
  timeAt,
  UNSTAMPED,
  VISIT_MS_MAX,
} from './visit-rows.ts';

const between = (from: string, to: string): string => `timestamp >= ${from} AND timestamp < ${to}`;
const BEFORE = between(timeAt('from', -SPAN_MS), timeAt('from', -VISIT_MS_MAX));
const FIRST = between(timeAt('from', 0), timeAt('from', VISIT_MS_MAX));
const LAST = between(timeAt('to', -VISIT_MS_MAX), timeAt('to', 0));
const AFTER = between(timeAt('to', VISIT_MS_MAX), timeAt('to', SPAN_MS));

const count = (from: string): string => `(SELECT count() FROM ${from})`;
const anyRow = (conditions: string): string => count(`(SELECT 1 FROM records WHERE ${conditions} LIMIT 1)`);
const FLAGGED = 'visits_computed WHERE site_id = {site:String} AND day >= {from_day:Date} AND day <= {to_day:Date}';
const EXPIRED = "site_id = {site:String} AND outcome = 'expired'";

/**
 * The first of two statements: whether the site has rows that need the second one (`findSql`) to look for them. The conditions on `records`
 * have no time, so that ClickHouse evaluates them once for each part of the table (its query condition cache). `moved` and `flags` contain
 * checksums. If they have not changed, `findSql` finds the same moved and flagged visits as before.
 */
const LOOK = `SELECT
  (SELECT sum(cityHash64(visitor_id, hour)) FROM ${MOVED_HOURS}) AS moved,
  (
    SELECT (countIf(NOT by_row AND day <= {to_day:Date}), sum(cityHash64(day, session_id, by_row))) FROM visits_computed
    WHERE site_id = {site:String} AND day >= {from_day:Date} AND day <= {to_day:Date} + 2
  ) AS flags,
  ${anyRow(EXPIRED)} AS expired,
  ${anyRow(UNSTAMPED)} AS unstamped`;

/**
 * The second statement: whether the rows near the period suffice for exact numbers of its visits. They do not if
 * - a visit has rows in the period, and more than a day before or after it (`long`). Two hits of such a visit are at most a day apart, so
 *   it has rows on the day at the edge of the period and on the second day beyond it.
 * - retention has removed rows (`expired`), or a visit is in `visits_computed` for another reason than its rows (`flagged`), for example
 *   because an erasure has removed some of them.
 * The statement does not search for what `LOOK` has not found (`has`). If two sessions have the same hash, `long` can be too high. The
 * report then reads `sessions`, which is slower but also exact.
 */
function findSql(has: Readonly<Record<'moved' | 'flagged' | 'expired' | 'unstamped', boolean>>): string {
  const id = has.moved ? MOVED_KEY : 'records.session_key';
  return `${has.moved ? `WITH\n${FIND_MOVED} AS moved,\n${MOVED_KEYS}\n` : ''}SELECT
  ${has.moved ? 'moved.1 AS stored,\n  moved.2 AS sessions,\n  ' : ''}${
    has.expired ? `${anyRow(`${EXPIRED} AND ${NEAR_PERIOD}`)} AS expired,\n  ` : ''
  }${has.unstamped ? `${anyRow(`${UNSTAMPED} AND ${NEAR_PERIOD}`)} AS unstamped,\n  ` : ''}${
    has.flagged
      ? `${count(`(SELECT 1 FROM ${FLAGGED} GROUP BY day, session_id HAVING NOT max(by_row) LIMIT 1)`)} AS flagged,\n  `
      : ''
  }(
    SELECT count() FROM
    (
      SELECT ${id} AS id FROM records
      WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY} AND (${[BEFORE, FIRST, LAST, AFTER].join(' OR ')})
      GROUP BY id
      HAVING (countIf(${BEFORE}) > 0 AND countIf(${FIRST}) > 0) OR (countIf(${LAST}) > 0 AND countIf(${AFTER}) > 0)
    )
  ) AS long`;
}

/** More moved sessions than this are found again by the statement of the report. ClickHouse limits a parameter to 128 KiB. */
const MOVED_MAX = 3_000;

/** Decides where a report takes its visits from. The rows of the period are much faster than `sessions`. */
export async function visitSourceOf(scope: AskedScope, analytics: ReportTables): Promise<VisitSource> {
  // Rows of bots have no stamps.
  if (scope.withBots) return SESSIONS;
  const { parameters } = scopeSql(scope);
  putDays(scope.period, parameters);
  const { site, from, to } = parameters.values;
  const days = { from_day: dayOf(scope.period.fromMs), to_day: dayOf(scope.period.toMs) };
  const values = { site, from, to, ...days };
  const look = (await analytics.userQuery(LOOK, values)).rows[0] ?? {};
  const [marked] = look.flags as readonly unknown[];
  const has = { moved: isAny(look.moved), flagged: isAny(marked), expired: isAny(look.expired) };
  const find = findSql({ ...has, unstamped: isAny(look.unstamped) });
  // The answer of `find` is shared only if it can change only together with `look`. Expired and imported rows can change it without
  // changing `look`, which says only whether the site has such rows.
  const isShared = !isAny(look.expired) && !isAny(look.unstamped) && analytics.sharedQuery !== undefined;
  const { rows } = await (isShared
    ? analytics.sharedQuery(find, values, JSON.stringify(look))
    : analytics.userQuery(find, values));
  const { stored = [''], sessions = [''], long, expired, flagged, unstamped } = rows[0] ?? {};
  if ([long, expired, flagged].some(isAny)) return SESSIONS;
  const moved = [stored, sessions] as [readonly string[], readonly string[]];
  return {
    of: 'rows',
    near: { moved: moved[0].length > MOVED_MAX ? undefined : moved, hasUnstamped: isAny(unstamped) },
  };
}

const isAny = (count: unknown): boolean => Number(count ?? 0) > 0;
