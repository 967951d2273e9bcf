import { dimensionOf } from '../dimensions.ts';
import type { Scope, Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';

export const REALTIME_LISTS = { pages: 'page', sources: 'source', countries: 'country' } as const;
export type RealtimeList = keyof typeof REALTIME_LISTS;

const MINUTE_MS = 60_000;
export const MINUTES = 30;
export const RECENT_MINUTES = 5;
export const PERIOD_MS = MINUTES * MINUTE_MS;

/**
 * The statement returns one row for each value of each list (`list` is a `RealtimeList`), for each minute that is not empty (`minute`; the value is
 * its number, from 0), for the whole period (`all`) and for its last 5 minutes (`recent`). It is a single statement, because the preparation of a
 * statement takes most of the time of this report.
 */
export function realtimeStatement(scope: Scope, rowsMax: number): Statement {
  const source = dimensionOf(REALTIME_LISTS.sources);
  if (source === undefined) throw new Error('there is no dimension of sources');
  const { parameters, tables, hits, hitValue } = reportParts(scope, source, ['pathname', 'country']);
  const minute = 'intDiv(toUnixTimestamp64Milli(hit.timestamp) - {from:Int64}, 60000)';
  const sql = `${tables}
SELECT part.1 AS list, part.2 AS value,
  uniqExactIf(visitor_id, visitor_id != '') AS visitors, countIf(type = 'pageview') AS pageviews, countIf(type = 'event') AS events
FROM
(
  SELECT hit.visitor_id AS visitor_id, hit.type AS type, arrayJoin([
    ('all', ''),
    (if(${minute} >= ${MINUTES - RECENT_MINUTES}, 'recent', ''), ''),
    ('minute', toString(${minute})),
    (if(hit.pathname = '', '', 'pages'), hit.pathname),
    ('sources', toString(${hitValue(source)})),
    ('countries', toString(hit.country))
  ]) AS part
  FROM ${hits}
) AS found
WHERE list != ''
GROUP BY list, value
ORDER BY list, visitors DESC, value
LIMIT ${parameters.put('rows', 'UInt32', Math.max(rowsMax, MINUTES))} BY list`;
  return { sql, params: parameters.values };
}
