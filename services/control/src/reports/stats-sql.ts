import { COUNT_HITS, COUNT_VISITS, countVisitors, type Scope, type Statement, sumFound } from './report-sql.ts';
import { reportParts } from './visits/report-parts.ts';
import { countedHits, countedVisits } from './visits/slot-counts.ts';
import { readsSlots } from './visits/slot-rows.ts';

/**
 * The statement of the stats report. It returns one row of counts for each bucket that is not empty (`bucket` is the start of the
 * bucket in Unix milliseconds), and one row for the whole period (`is_total`).
 */
export function statsStatement(scope: Scope, starts: readonly number[]): Statement {
  const parts = reportParts(scope);
  const { parameters, tables, hits } = parts;
  const buckets = parameters.put('buckets', 'Array(Int64)', starts);
  const bucketOf = (moment: string): string => `roundDown(toUnixTimestamp64Milli(${moment}), ${buckets})`;
  const found = readsSlots(scope)
    ? `SELECT grouping(bucket) AS is_total, roundDown(moment, ${buckets}) AS bucket,
    ${countVisitors('counted.visitor_key', scope.visits.built.isEstimate)} AS visitors, 0 AS visits,
    sum(counted.pageviews) AS pageviews, sum(counted.events) AS events, 0 AS bounces, 0 AS seconds, 0 AS views
  FROM
  (
  ${countedHits(scope, parts)}
  ) AS counted
  GROUP BY ROLLUP (bucket)
  UNION ALL
  SELECT grouping(bucket) AS is_total, roundDown(moment, ${buckets}) AS bucket,
    ${COUNT_VISITS}
  FROM
  (
  ${countedVisits(scope, parts)}
  ) AS begun
  GROUP BY ROLLUP (bucket)`
    : `SELECT grouping(bucket) AS is_total, ${bucketOf('timestamp')} AS bucket,
    ${COUNT_HITS}
  FROM ${hits}
  GROUP BY ROLLUP (bucket)
  UNION ALL
  SELECT grouping(bucket) AS is_total, ${bucketOf('started_at')} AS bucket,
    ${COUNT_VISITS}
  FROM begun
  GROUP BY ROLLUP (bucket)`;
  const sql = `${tables}
SELECT is_total, bucket, ${sumFound()}
FROM
(
  ${found}
) AS found
GROUP BY is_total, bucket
ORDER BY is_total, bucket`;
  return { sql, params: parameters.values };
}
