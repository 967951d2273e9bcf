import { createHash } from 'node:crypto';
import type { Dimension } from './dimensions.ts';
import { METRIC_SQL, type MetricName } from './report-metrics.ts';
import { COUNT_HITS, COUNT_VISITS, type Scope, type Statement, SUM_FOUND } from './report-sql.ts';
import { reportParts } from './visits/report-parts.ts';

export interface BreakdownOrder {
  readonly metric: MetricName;
  readonly direction: 'asc' | 'desc';
}

export interface BreakdownPage {
  readonly order: BreakdownOrder;
  readonly rowsMax: number;
  readonly skip: number;
  /**
   * Limits the result to these values, for a comparison: the values of the page of the requested period. They are sent as MD5 hashes,
   * because ClickHouse limits a parameter to 128 KiB.
   */
  readonly values?: readonly string[];
}

/**
 * The statement returns one row of `Counts` for each value of the dimension (column `name`). A visit counts once for each value that one of
 * its rows has. The numbers of a value are therefore those of the stats report with a filter on this value.
 */
export function breakdownStatement(
  scope: Scope,
  by: Dimension,
  { order, rowsMax, skip, values }: BreakdownPage,
): Statement {
  const { parameters, tables, hits, hitValue } = reportParts(scope, by);
  const conditions = [
    ...(by.listsEmpty ? [] : ["name != ''"]),
    ...(values === undefined ? [] : [`hex(MD5(name)) IN ${parameters.put('md5s', 'Array(String)', values.map(md5))}`]),
  ];
  const sql = `${tables}
SELECT name, ${SUM_FOUND}
FROM
(
  SELECT toString(${hitValue(by)}) AS name,
    ${COUNT_HITS}
  FROM ${hits}
  GROUP BY name
  UNION ALL
  SELECT toString(begun.name) AS name,
    ${COUNT_VISITS}
  FROM begun
  GROUP BY name
) AS found
${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}\n`}GROUP BY name
ORDER BY ${METRIC_SQL[order.metric]} ${order.direction.toUpperCase()} NULLS LAST, name
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)} OFFSET ${parameters.put('skip', 'UInt32', skip)}`;
  return { sql, params: parameters.values };
}

function md5(value: string): string {
  return createHash('md5').update(value).digest('hex').toUpperCase();
}
