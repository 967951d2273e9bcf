import type { ReportTables } from '../../steady-tables.ts';
import type { Period } from '../period.ts';
import { type AskedScope, SESSIONS, type SlotRun, scopeSql, type VisitSource } from '../report-sql.ts';
import {
  dayOf,
  findMoved,
  MOVED_KEY,
  MOVED_KEYS,
  movedHours,
  NO_KEY,
  nearPeriod,
  OF_SITE,
  outsideSkippedDays,
  putDays,
  type SkippedSpan,
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
const flaggedDays = (skips: boolean): string =>
  `visits_computed WHERE site_id = {site:String} AND day >= {from_day:Date} AND day <= {to_day:Date}${outsideSkippedDays(skips)}`;
const EXPIRED = "site_id = {site:String} AND outcome = 'expired'";

/**
 * The first of two statements. It says which kinds of unusual rows the site has, so that the second statement (`findSql`) searches only for
 * these. The conditions on `records` have no time, so that ClickHouse evaluates them once for each part of the table (its query condition cache).
 * `moved` and `flags` contain checksums. If they have not changed, `findSql` finds the same moved and flagged visits as before.
 */
const lookSql = (skips: boolean): string => `SELECT
  (SELECT sum(cityHash64(visitor_id, hour)) FROM ${movedHours(skips)}) AS moved,
  (
    SELECT (countIf(NOT by_row AND day <= {to_day:Date}), sum(cityHash64(day, session_id, by_row))) FROM visits_computed
    WHERE site_id = {site:String} AND day >= {from_day:Date} AND day <= {to_day:Date} + 2${outsideSkippedDays(skips)}
  ) AS flags,
  ${anyRow(EXPIRED)} AS expired,
  ${anyRow(UNSTAMPED)} AS unstamped`;

/**
 * The second statement: whether the rows near the period suffice for exact numbers of its visits. They do not if
 * - a visit has rows in the period, and more than a day before or after it (`long`). Two hits of such a visit are at most a day apart, so
 *   it has rows on the day at the edge of the period and on the second day beyond it.
 * - retention has removed rows (`expired`), or a visit is in `visits_computed` for another reason than its rows (`flagged`), for example
 *   because an erasure has removed some of them.
 * `has` says what the first statement (`lookSql`) has found; this statement does not search for anything else. If two sessions
 * have the same hash, `long` can be too high. The report then reads `sessions`, which is slower but also exact.
 */
function findSql(
  has: Readonly<Record<'moved' | 'flagged' | 'expired' | 'unstamped', boolean>>,
  skips: boolean,
  hasStart: boolean,
): string {
  const near = nearPeriod(skips);
  const edges = [...(hasStart ? [[BEFORE, FIRST]] : []), [LAST, AFTER]];
  const id = has.moved ? MOVED_KEY : 'records.session_key';
  return `${has.moved ? `WITH\n${findMoved(skips)} AS moved,\n${MOVED_KEYS}\n` : ''}SELECT
  ${has.moved ? 'moved.1 AS stored,\n  moved.2 AS sessions,\n  ' : ''}${
    has.expired ? `${anyRow(`${EXPIRED} AND ${near}`)} AS expired,\n  ` : ''
  }${has.unstamped ? `${anyRow(`${UNSTAMPED} AND ${near}`)} AS unstamped,\n  ` : ''}${
    has.flagged
      ? `${count(`(SELECT 1 FROM ${flaggedDays(skips)} GROUP BY day, session_id HAVING NOT max(by_row) LIMIT 1)`)} AS flagged,\n  `
      : ''
  }(
    SELECT count() FROM
    (
      SELECT ${id} AS id FROM records
      WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY} AND (${edges.flat().join(' OR ')})
      GROUP BY id
      HAVING ${edges.map((edge) => `(${edge.map((rows) => `countIf(${rows}) > 0`).join(' AND ')})`).join(' OR ')}
    )
  ) AS long`;
}

/**
 * If there are more moved sessions than this, they are not passed to the report as a parameter, and the statement of the report finds them again:
 * ClickHouse limits a parameter to 128 KiB.
 */
const MOVED_MAX = 3_000;

/**
 * Decides where a report takes its visits from. The rows of the period are much faster than `sessions`. A report that reads the slots (docs/glossary.md) of the
 * days `built` needs only the rows before and after these days.
 */
export async function visitSourceOf(scope: AskedScope, analytics: ReportTables, built?: SlotRun): Promise<VisitSource> {
  // Rows of bots have no stamps.
  if (scope.withBots) return SESSIONS;
  const { parameters } = scopeSql(scope);
  const skipped = built === undefined ? undefined : skippedSpan(scope.period, built);
  const skips = skipped !== undefined;
  putDays(scope.period, skipped, parameters);
  const { first_day, last_day, ...near } = parameters.values;
  const values = { ...near, from_day: dayOf(scope.period.fromMs), to_day: dayOf(scope.period.toMs) };
  const look = (await analytics.userQuery(lookSql(skips), values)).rows[0] ?? {};
  const [marked] = look.flags as readonly unknown[];
  const has = { moved: isAny(look.moved), flagged: isAny(marked), expired: isAny(look.expired) };
  const hasStart = built === undefined || scope.period.fromMs < built.fromMs;
  const find = findSql({ ...has, unstamped: isAny(look.unstamped) }, skips, hasStart);
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
    near: { moved: moved[0].length > MOVED_MAX ? undefined : moved, hasUnstamped: isAny(unstamped), skipped },
    built,
  };
}

/** Rows of visits that began before or after the days `built` are at most `SPAN_MS` within these days. */
function skippedSpan({ fromMs }: Period, built: SlotRun): SkippedSpan | undefined {
  const start = built.fromMs + (fromMs < built.fromMs ? SPAN_MS : -SPAN_MS);
  const end = built.toMs - SPAN_MS;
  return start < end ? { fromMs: start, toMs: end } : undefined;
}

const isAny = (count: unknown): boolean => Number(count ?? 0) > 0;
