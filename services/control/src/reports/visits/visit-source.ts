import { hoursBetween, isBetween } from '../../rows-between.ts';
import type { ReportTables } from '../../steady-tables.ts';
import type { DayFact } from '../../visit-slots/built-run.ts';
import { DAY_MS } from '../../visit-slots/slot-sql.ts';
import { createParameters } from '../parameters.ts';
import type { Period } from '../period.ts';
import {
  type AskedScope,
  type Scope,
  SESSIONS,
  type SlotRun,
  type Statement,
  scopeSql,
  type VisitSource,
} from '../report-sql.ts';
import { hasFarBotVisits } from './bot-visits.ts';
import { movedSessions } from './moved-sessions.ts';
import { type PeriodFacts, readPeriodFacts } from './period-facts.ts';
import {
  EXPIRED,
  HOUR_MS,
  hoursOf,
  movedFragments,
  movedSql,
  msAt,
  type NearVisits,
  NO_KEY,
  NONE_MOVED,
  nearPeriod,
  OF_SITE,
  putDays,
  type SkippedSpan,
  SPAN_MS,
  sessionKey,
  VISIT_MS_MAX,
} from './visit-rows.ts';

type Span = readonly [fromMs: string, toMs: string];
// The parameters `from` and `to` are in whole hours: up to an hour before the start of the period, and up to an hour after its end.
const BEFORE: Span = [msAt('from', -SPAN_MS), msAt('from', HOUR_MS - VISIT_MS_MAX)];
const FIRST: Span = [msAt('from', 0), msAt('from', VISIT_MS_MAX + HOUR_MS)];
const LAST: Span = [msAt('to', -VISIT_MS_MAX - HOUR_MS), msAt('to', 0)];
const AFTER: Span = [msAt('to', VISIT_MS_MAX - HOUR_MS), msAt('to', SPAN_MS)];
/**
 * The statement that searches for long visits: visits with rows in the period, and rows more than a day before or after it. Consecutive rows of a
 * visit are at most a day apart, unless a client uses a session ID again later (start-visit-checks.ts flags such visits). So a long visit has rows
 * in the first or last day of the period, and in the second day beyond it. Each span is an hour longer than these days: periods that differ by less
 * than an hour then often share the statement. The statement can find visits that are not long: a visit that is up to an hour shorter, or two
 * sessions with the same hash. The report then reads `sessions`, which is slower but also exact.
 */
function longStatement({ siteId, period }: AskedScope, near: NearVisits, hasStart: boolean): Statement {
  const parameters = createParameters();
  const { from, to } = hoursOf(period);
  parameters.put('site', 'String', siteId);
  parameters.put('from', 'Int64', from);
  parameters.put('to', 'Int64', to);
  const edges: (readonly [Span, Span])[] = [...(hasStart ? [[BEFORE, FIRST] as const] : []), [LAST, AFTER]];
  const spans = edges.flat();
  const moved = movedSql(near, parameters);
  if (moved.length > 0) putDays(period, near.skipped, parameters);
  const sql = `${moved.length === 0 ? '' : `WITH\n${moved.join(',\n')}\n`}SELECT ${sessionKey(near)} AS id FROM records
WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY} AND (${spans.map((span) => isBetween(...span)).join(' OR ')})
  AND indexHint(${spans.map((span) => `(${hoursBetween(...span)})`).join(' OR ')})
GROUP BY id
HAVING ${edges.map((edge) => `(${edge.map((span) => `countIf(${isBetween(...span)}) > 0`).join(' AND ')})`).join(' OR ')}
LIMIT 1`;
  return { sql, params: parameters.values };
}

/**
 * A report gets the moved sessions (docs/glossary.md) near its period as parameters, which ClickHouse limits to 128 KiB each. If there are too
 * many, the statement of the report finds these sessions itself. There are too many in three cases: `moved_hours` has more than `MOVED_MAX` rows
 * near the period, more than `MOVED_MAX` sessions have moved, or `movedFragments` returns more than `FRAGMENTS_MAX` rows.
 */
const MOVED_MAX = 3_000;
const FRAGMENTS_MAX = 20_000;

/**
 * Decides where a report takes its visits from. The rows of the period are much faster than `sessions`. A report that reads the slots
 * (docs/glossary.md) of the days `built` needs only the rows before and after these days. The rows near the period do not suffice for exact numbers
 * if
 * - retention has removed rows (`expired`),
 * - a check, an erasure or retention has added a visit to `visits_computed` (`flag`),
 * - a visit continues for more than a day beyond the period (`longStatement`).
 */
export async function visitSourceOf(scope: AskedScope, analytics: ReportTables, built?: SlotRun): Promise<VisitSource> {
  // Rows of bots have no stamps (docs/glossary.md), so they need `sessions`.
  if (scope.withBots) return SESSIONS;
  const source = await likelySourceOf(scope, analytics, await readPeriodFacts(scope, analytics), built);
  if (source.of === 'sessions') return source;
  return (await suffices(scope, source, analytics)) ? { ...source, isChecked: true } : SESSIONS;
}

/**
 * Like `visitSourceOf`, but does not search for long visits, because `askWithSource` does this later. It also accepts reports with bots. The third
 * argument has the facts of the period (`readPeriodFacts`).
 */
export async function likelySourceOf(
  scope: AskedScope,
  analytics: ReportTables,
  { days, version }: PeriodFacts,
  built: SlotRun | undefined,
): Promise<VisitSource> {
  const { period } = scope;
  const skipped = built === undefined ? undefined : skippedSpan(period, built);
  const near = days.filter((fact) => !isSkipped(fact, skipped));
  const has = (kind: DayFact['kind']): boolean => near.some((fact) => fact.kind === kind);
  const [firstDay, lastDay] = [Math.floor(period.fromMs / DAY_MS), Math.floor(period.toMs / DAY_MS)];
  if (near.some(({ kind, day }) => kind === 'flag' && day >= firstDay && day <= lastDay)) return SESSIONS;
  if (has('expired') && (await hasExpired(scope, skipped, analytics))) return SESSIONS;
  const movedHours = near.reduce((sum, { kind, late }) => sum + (kind === 'moved' ? late : 0), 0);
  const moved =
    movedHours === 0 ? NONE_MOVED : await movedNear(scope, movedHours, skipped, shared(analytics, version, true));
  return { of: 'rows', near: { moved, hasUnstamped: has('unstamped'), skipped }, built, version, isChecked: false };
}

/** Whether the rows near the period suffice: no visit of the report has rows more than a day before or after it. */
async function suffices(
  scope: AskedScope,
  { near, built, version, bots }: Extract<VisitSource, { of: 'rows' }>,
  analytics: ReportTables,
): Promise<boolean> {
  const long = longStatement(scope, near, built === undefined || scope.period.fromMs < built.fromMs);
  const [found, isFar] = await Promise.all([
    shared(analytics, version, false).userQuery(long.sql, long.params),
    bots === 'visiting' && hasFarBotVisits(scope, near, analytics),
  ]);
  return found.rows.length === 0 && !isFar;
}

/**
 * Returns tables that share the answer of a query for some time, as long as `version` (`PeriodFacts`) is the same. `isCertain`: see `sharedQuery`. A
 * hit that moves sessions always changes `version`. But a visit can become long without a flag, for example if two visitors send the same session ID.
 */
function shared(
  analytics: ReportTables,
  version: string | undefined,
  isCertain: boolean,
): Pick<ReportTables, 'userQuery'> {
  const { sharedQuery } = analytics;
  if (version === undefined || sharedQuery === undefined) return analytics;
  return { userQuery: (query, params) => sharedQuery(query, params, version, isCertain) };
}

/**
 * Resolves with the result of `ask`, while another statement searches for long visits. If there are long visits, this function discards the result
 * and asks again with visits from `sessions`.
 */
export async function askWithSource<T>(
  scope: Scope,
  analytics: ReportTables,
  ask: (scope: Scope) => Promise<T>,
): Promise<T> {
  const { visits } = scope;
  if (visits.of === 'sessions' || visits.isChecked) return ask(scope);
  const [likely, isRight] = await Promise.allSettled([ask(scope), suffices(scope, visits, analytics)]);
  if (isRight.status === 'rejected') throw isRight.reason;
  if (!isRight.value) return ask({ ...scope, visits: SESSIONS });
  if (likely.status === 'rejected') throw likely.reason;
  return likely.value;
}

/** The moved sessions near the period. Undefined if there are too many, or if the answer shows its statements: the statements then find them. */
async function movedNear(
  scope: AskedScope,
  movedHours: number,
  skipped: SkippedSpan | undefined,
  analytics: Pick<ReportTables, 'userQuery'>,
): Promise<NearVisits['moved']> {
  if (movedHours > MOVED_MAX || scope.isShown === true) return undefined;
  const { rows } = await analytics.userQuery(
    `SELECT made_for, fragment_id, toUnixTimestamp64Milli(began) AS began_ms, toUnixTimestamp64Milli(ended) AS ended_ms
FROM (${movedFragments(skipped !== undefined)})
LIMIT ${FRAGMENTS_MAX + 1}`,
    { ...nearValues(scope, skipped), ...hoursOf(scope.period) },
  );
  const fragments = rows.map(({ made_for, fragment_id, began_ms, ended_ms }) => ({
    visitorId: String(made_for),
    storedId: String(fragment_id),
    beganMs: Number(began_ms),
    endedMs: Number(ended_ms),
  }));
  const moved = movedSessions(scope.siteId, fragments);
  if (fragments.length > FRAGMENTS_MAX || moved.length > MOVED_MAX) return undefined;
  return [
    ['', ...moved.map(({ storedId }) => storedId)],
    ['', ...moved.map(({ presentId }) => presentId)],
  ];
}

/** Whether retention has removed rows near the period. */
async function hasExpired(
  scope: AskedScope,
  skipped: SkippedSpan | undefined,
  analytics: ReportTables,
): Promise<boolean> {
  const sql = `SELECT 1 FROM records WHERE ${EXPIRED} AND ${nearPeriod(skipped !== undefined)} LIMIT 1`;
  return (await analytics.userQuery(sql, nearValues(scope, skipped))).rows.length > 0;
}

/** The values do not depend on the filters of the report, so reports with different filters share the statement. */
function nearValues(scope: AskedScope, skipped: SkippedSpan | undefined): Statement['params'] {
  const { parameters } = scopeSql({ ...scope, filters: [] });
  putDays(scope.period, skipped, parameters);
  return parameters.values;
}

/**
 * Whether the report reads no rows near the day of this fact. Facts of the kinds `expired` and `unstamped` are about all days,
 * so they never count here.
 */
function isSkipped({ kind, day }: DayFact, skipped: SkippedSpan | undefined): boolean {
  if (skipped === undefined || kind === 'expired' || kind === 'unstamped') return false;
  return day * DAY_MS >= skipped.fromMs && day * DAY_MS < skipped.toMs;
}

/**
 * The span whose rows the report does not read. It ends `SPAN_MS` before the end of the days `built`, because the visits after these days can have
 * rows in this time. If the period begins before the days `built`, the span begins `SPAN_MS` after their start, for the same reason. Otherwise the
 * report needs no rows before these days, so the span begins `SPAN_MS` before them.
 */
function skippedSpan({ fromMs }: Period, built: SlotRun): SkippedSpan | undefined {
  const start = built.fromMs + (fromMs < built.fromMs ? SPAN_MS : -SPAN_MS);
  const end = built.toMs - SPAN_MS;
  return start < end ? { fromMs: start, toMs: end } : undefined;
}
