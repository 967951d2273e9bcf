import { rowsBetween, rowsOutside } from '../../rows-between.ts';
import type { ReportTables } from '../../steady-tables.ts';
import { createParameters } from '../parameters.ts';
import type { AskedScope, Statement } from '../report-sql.ts';
import {
  hoursOf,
  movedSql,
  msAt,
  type NearVisits,
  NO_KEY,
  OF_SITE,
  putDays,
  SPAN_MS,
  sessionKey,
  VISIT_MS_MAX,
} from './visit-rows.ts';

/**
 * Visits are computed without the rows of bots (docs/stats.md). But a row of a bot can have the session ID of a visit: a browser can send the visitor
 * ID of a person with the user agent of a bot. Such a row has the source, the entry page and so on of this visit, and the visit can be months away:
 * a client can use a session ID again. The statements of this file search for these visits in the whole history of the site
 * (docs/decisions/0058). Their periods are in whole hours, so that reports share their answers. They can find visits where there are none, for
 * example two sessions with the same hash. The report is then slower, but also exact.
 */

const PEOPLE = `${OF_SITE} AND bot = ''`;
/** The rows of bots in the period that have a session. PREWHERE: ClickHouse reads the other columns only near such rows. */
const BOTS = `records
    PREWHERE bot != ''
    WHERE ${OF_SITE} AND records.session_key != ${NO_KEY} AND ${rowsBetween('{from:Int64}', '{to:Int64}')}`;
/** The sessions of these rows, as hashes of their stored IDs. */
export const BOT_KEYS = `SELECT session_key FROM ${BOTS}`;
const MOVED_OF_SITE = 'moved_hours WHERE site_id = {site:String}';
/**
 * The rows of `moved_hours` that `movedHours` (visit-rows.ts) does not select, because they are not near the period. Also all rows of the visitors in
 * `sessions_kept`: if a session of such a visitor has moved, its rows have expired, so the rows near the period do not show it.
 */
const FAR_MOVED = `${MOVED_OF_SITE} AND (hour < fromUnixTimestamp64Milli(${msAt('from', -SPAN_MS)}) OR hour >= fromUnixTimestamp64Milli(${msAt('to', SPAN_MS)})
  OR visitor_id IN (SELECT made_for FROM sessions_kept WHERE site_id = {site:String}))`;
/** If more bots than this have moved sessions, the search assumes that their rows belong to visits. */
const MOVED_BOTS_MAX = 500;

/**
 * Selects one or two rows about the visits of rows of bots. `moved`: the rows of `moved_hours` that count. If `shared` selects a row, one of them
 * says so: `shared` selects rows of people with the session ID of a bot. The other row is about visits that the session IDs do not show:
 * - `is_found`: the session of a bot is in `sessions_kept`, which has the sessions of expired rows. Or a server has sent a row of a bot, and sessions
 *   have moved: the visitor of this row can be another one than that of its session.
 * - `visitors`: the visitors of rows of bots whose sessions have moved, as hashes.
 */
function visitsOfBots(shared: string, moved: string): string {
  return `SELECT 1 AS is_found, CAST([], 'Array(String)') AS visitors FROM (${shared} LIMIT 1)
UNION ALL
SELECT countIf(records.session_key IN (SELECT sipHash64(session_id) FROM sessions_kept WHERE site_id = {site:String})) > 0
    OR (max(source = 'server') AND (SELECT count() > 0 FROM ${moved})) AS is_found,
  arraySort(groupUniqArrayIf(${MOVED_BOTS_MAX + 1})(toString(visitor_key), visitor_key IN (SELECT sipHash64(visitor_id) FROM ${moved}))) AS visitors
FROM ${BOTS}`;
}

const VISITORS = "SELECT arrayJoin(CAST({visitors:Array(String)}, 'Array(UInt64)'))";
/**
 * Selects a row of a person, or an expired session, near the moved sessions of these visitors of bots. The rows of people and of bots in a moved
 * session can have different stored session IDs, but they have the same visitor.
 */
const nearMoved = (moved: string): string => `SELECT found FROM
(
  SELECT 1 AS found FROM records
  WHERE ${PEOPLE} AND (site_id, toStartOfHour(timestamp), visitor_id) IN
    (
      SELECT site_id, arrayJoin(arrayMap(n -> addHours(hour, n), range(-6, 7))) AS near, visitor_id FROM ${moved} AND sipHash64(visitor_id) IN (${VISITORS})
    )
  UNION ALL
  SELECT 1 AS found FROM sessions_kept WHERE site_id = {site:String} AND sipHash64(made_for) IN (${VISITORS})
)
LIMIT 1`;

/** Whether rows of bots belong, or may belong, to visits. For `shared` and `moved`, see `visitsOfBots`. */
async function haveVisits(
  { userQuery }: Pick<ReportTables, 'userQuery'>,
  shared: string,
  moved: string,
  params: Statement['params'],
): Promise<boolean> {
  const { rows } = await userQuery(visitsOfBots(shared, moved), params);
  const visitors = rows.flatMap((row) => row.visitors as readonly string[]);
  if (rows.some((row) => Number(row.is_found) === 1) || visitors.length > MOVED_BOTS_MAX) return true;
  return visitors.length > 0 && (await userQuery(nearMoved(moved), { ...params, visitors })).rows.length > 0;
}

const timesOf = ({ siteId, period }: AskedScope): Statement['params'] => ({ site: siteId, ...hoursOf(period) });

/**
 * Returns `apart` if no row of a bot in the period belongs to a visit, and otherwise `visiting`. The filters of the report do not matter. The answer
 * of the statement seldom changes, so a report begins with the last answer and checks it (docs/decisions/0057).
 */
export async function findBotVisits(
  scope: AskedScope,
  { userQuery, steadyQuery = userQuery }: ReportTables,
): Promise<'apart' | 'visiting'> {
  const shared = `SELECT 1 FROM records PREWHERE session_key IN (${BOT_KEYS}) WHERE ${PEOPLE}`;
  const found = await haveVisits({ userQuery: steadyQuery }, shared, MOVED_OF_SITE, timesOf(scope));
  return found ? 'visiting' : 'apart';
}

/**
 * Whether rows of bots can belong to a visit that the rows near the period do not show: it has rows of people more than a day before or after the
 * period, or its session has moved and `near` does not contain it.
 */
export async function hasFarBotVisits(
  scope: AskedScope,
  near: NearVisits,
  tables: Pick<ReportTables, 'userQuery'>,
): Promise<boolean> {
  const parameters = createParameters();
  const expressions = movedSql(near, parameters);
  if (expressions.length > 0) putDays(scope.period, near.skipped, parameters);
  const present = `SELECT ${sessionKey(near)} FROM ${BOTS}`;
  // Rows of people can be stored with the present ID of the session, or with an ID that has moved to it.
  const stored =
    expressions.length === 0
      ? present
      : `${present} UNION ALL SELECT pair.1 FROM (SELECT arrayJoin(arrayZip(moved_from, moved_to)) AS pair) WHERE pair.2 IN (${present})`;
  const far = `${expressions.length === 0 ? '' : `WITH\n${expressions.join(',\n')}\n`}SELECT 1 FROM records
WHERE ${PEOPLE} AND ${rowsOutside(msAt('from', -VISIT_MS_MAX), msAt('to', VISIT_MS_MAX))} AND records.session_key IN (${stored})`;
  return haveVisits(tables, far, FAR_MOVED, { ...timesOf(scope), ...parameters.values });
}
