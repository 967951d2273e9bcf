import type { ReportDeps, ReportRequest } from './report-request.ts';
import { ROWS_OF_PERIOD, type Scope, type Statement } from './report-sql.ts';
import { statementView } from './report-view.ts';
import { sessionParts } from './visits/session-parts.ts';
import { OF_SITE } from './visits/visit-rows.ts';

/**
 * Counts the rows of a period that the reports include, and the excluded rows by the reason of the exclusion. In the answer, `counted`,
 * `bots`, `internal_events` and `filtered` add up to `rows`.
 */
function rowsStatement(scope: Scope): Statement {
  const { parameters, tables, hitsWithVisits } = sessionParts(scope, undefined, []);
  const sql = `${tables},
counted AS
(
  SELECT count() AS counted, countIf(hit.visitor_id = '') AS without_visitor,
    countIf(visit.session_id = '') AS without_visit,
    uniqExactIf(hit.session_id, visit.session_id != '' AND visit.started_at < fromUnixTimestamp64Milli({from:Int64})) AS visits_begun_before
  FROM ${hitsWithVisits}
),
stored AS
(
  SELECT count() AS rows, countIf(startsWith(event_name, '$')) AS internal_events,
    countIf(bot != '' AND NOT startsWith(event_name, '$')) AS bots
  FROM records
  WHERE ${OF_SITE} AND ${ROWS_OF_PERIOD}
)
SELECT rows, internal_events, bots, counted, without_visitor, without_visit, visits_begun_before FROM stored, counted`;
  return { sql, params: parameters.values };
}

/**
 * Counts the records of a period that became neither a row nor an identify record, by outcome and reason. The period is compared with the minute of
 * receipt, because `books` has no other time.
 */
const NEVER_STORED = `SELECT outcome, reason, sum(records) AS records
FROM books
WHERE site_id = {site:String} AND outcome NOT IN ('row', 'identify')
  AND minute >= toStartOfMinute(fromUnixTimestamp64Milli(greatest({from:Int64}, 0))) AND minute < fromUnixTimestamp64Milli({to:Int64})
GROUP BY outcome, reason
ORDER BY outcome, reason`;

/** The field `explain` of an answer, if the request asks for it: the statements of the report by name, and the rows that it does not count. */
export async function explained(
  { scope, withExplanation }: Pick<ReportRequest, 'scope' | 'withExplanation'>,
  named: Readonly<Record<string, Statement | undefined>>,
  deps: ReportDeps,
): Promise<object> {
  if (!withExplanation) return {};
  const statements = Object.entries(named).flatMap(([of, statement]) =>
    statement === undefined ? [] : [statementView(of, statement)],
  );
  return { explain: { statements, left_out: await countExcludedRows(scope, deps) } };
}

export async function countExcludedRows(scope: Scope, { analytics }: ReportDeps): Promise<object> {
  const { sql, params } = rowsStatement(scope);
  const times = { site: scope.siteId, from: scope.period.fromMs, to: scope.period.toMs };
  const [found, books] = await Promise.all([
    analytics.userQuery(sql, params),
    analytics.userQuery(NEVER_STORED, times),
  ]);
  const numbers = Object.fromEntries(Object.entries(found.rows[0] ?? {}).map(([name, value]) => [name, Number(value)]));
  const { rows = 0, internal_events = 0, bots: botRows = 0, counted = 0, ...rest } = numbers;
  const bots = scope.withBots ? 0 : botRows;
  return {
    rows,
    counted,
    bots,
    internal_events,
    filtered: rows - counted - bots - internal_events,
    ...rest,
    never_stored: books.rows.map(({ outcome, reason, records }) => ({ outcome, reason, records: Number(records) })),
  };
}
