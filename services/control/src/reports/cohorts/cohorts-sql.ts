import type { Scope, Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';
import { OF_SITE } from '../visits/visit-rows.ts';

/**
 * The statement returns one row for each cohort (the start of the bucket in which its visitors were first seen) and each bucket in which
 * some of them were seen, both in Unix milliseconds. Visitors with a counted row before the period belong to no cohort. Therefore the
 * statement reads the earlier rows of the period's visitors, and its cost depends on the history of the site.
 */
export function cohortsStatement(scope: Scope, starts: readonly number[]): Statement {
  const { parameters, tables, hits } = reportParts(scope);
  const buckets = parameters.put('buckets', 'Array(Int64)', starts);
  const sql = `${tables},
seen AS
(
  SELECT hit.visitor_id AS visitor_id, groupUniqArray(roundDown(toUnixTimestamp64Milli(hit.timestamp), ${buckets})) AS buckets
  FROM ${hits}
  GROUP BY visitor_id
)
SELECT arrayMin(buckets) AS cohort, bucket, count() AS visitors
FROM seen
ARRAY JOIN buckets AS bucket
WHERE visitor_id != '' AND visitor_id NOT IN
(
  SELECT visitor_id
  FROM records
  WHERE ${OF_SITE} AND timestamp < fromUnixTimestamp64Milli({from:Int64})
    AND NOT startsWith(event_name, '$')${scope.withBots ? '' : " AND bot = ''"}
    AND visitor_id IN (SELECT visitor_id FROM seen)
)
GROUP BY cohort, bucket
ORDER BY cohort, bucket`;
  return { sql, params: parameters.values };
}
