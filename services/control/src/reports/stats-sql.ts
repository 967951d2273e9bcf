import { COUNT_HITS, COUNT_VISITS, type Scope, type Statement, SUM_FOUND } from './report-sql.ts';
import { reportParts } from './visits/report-parts.ts';

/**
 * The statement of the stats report. It returns one row of counts for each bucket that is not empty (`bucket` is the start of the
 * bucket in Unix milliseconds), and one row for the whole period (`is_total`).
 */
export function statsStatement(scope: Scope, starts: readonly number[]): Statement {
  const { parameters, tables, hits } = reportParts(scope);
  const buckets = parameters.put('buckets', 'Array(Int64)', starts);
  const bucketOf = (moment: string): string => `roundDown(toUnixTimestamp64Milli(${moment}), ${buckets})`;
  const sql = `${tables}
SELECT is_total, bucket, ${SUM_FOUND}
FROM
(
  SELECT grouping(bucket) AS is_total, ${bucketOf('timestamp')} AS bucket,
    ${COUNT_HITS}
  FROM ${hits}
  GROUP BY ROLLUP (bucket)
  UNION ALL
  SELECT grouping(bucket) AS is_total, ${bucketOf('started_at')} AS bucket,
    ${COUNT_VISITS}
  FROM begun
  GROUP BY ROLLUP (bucket)
) AS found
GROUP BY is_total, bucket
ORDER BY is_total, bucket`;
  return { sql, params: parameters.values };
}
