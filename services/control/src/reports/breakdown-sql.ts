import { createHash } from 'node:crypto';
import type { Dimension } from './dimensions.ts';
import { METRIC_SQL, type MetricName } from './report-metrics.ts';
import {
  COUNT_HITS,
  COUNT_VISITS,
  countVisitors,
  type ReportParts,
  type Scope,
  type Statement,
  SUM_FOUND,
} from './report-sql.ts';
import { reportParts } from './visits/report-parts.ts';
import { countedValues } from './visits/slot-counts.ts';
import { readsSlots, type SlotScope } from './visits/slot-rows.ts';
import { NO_KEY } from './visits/visit-rows.ts';

export interface BreakdownOrder {
  readonly metric: MetricName;
  readonly direction: 'asc' | 'desc';
}

export interface BreakdownPage {
  readonly order: BreakdownOrder;
  readonly rowsMax: number;
  readonly skip: number;
  /**
   * For a comparison: limits the result to the values that the page of the requested period shows. They are sent as MD5 hashes, because
   * ClickHouse limits a parameter to 128 KiB.
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
  const parts = reportParts(scope, by);
  const { parameters, tables } = parts;
  const isWanted =
    values === undefined
      ? ''
      : `HAVING hex(MD5(name)) IN ${parameters.put('md5s', 'Array(String)', values.map(md5))}\n`;
  const sql = `${tables}
${readsSlots(scope) ? slotNumbers(scope, by, parts) : rowNumbers(by, parts)}
${isWanted}ORDER BY ${METRIC_SQL[order.metric]} ${order.direction.toUpperCase()} NULLS LAST, name
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)} OFFSET ${parameters.put('skip', 'UInt32', skip)}`;
  return { sql, params: parameters.values };
}

/** SELECT … GROUP BY with the numbers of each value: first the rows and the visits are counted, and then both are added up. */
function rowNumbers(by: Dimension, { hits, hitValue, begunName }: ReportParts): string {
  // Values of rows are grouped by their hashes (docs/decisions/0043). Those of visits are few.
  const isOfRows = by.scope === 'hit';
  const key = isOfRows ? `sipHash64(${hitValue(by)})` : `toString(${hitValue(by)})`;
  return `SELECT ${isOfRows ? 'max(found.value_text)' : 'value_key'} AS name, ${SUM_FOUND}
FROM
(
  SELECT ${key} AS value_key,${isOfRows ? ` toString(any(${hitValue(by)})) AS value_text,` : ''}
    ${COUNT_HITS}
  FROM ${hits}
  GROUP BY value_key
  UNION ALL
  SELECT ${begunName.key} AS value_key,${isOfRows ? ` ${begunName.text} AS value_text,` : ''}
    ${COUNT_VISITS}
  FROM begun
  GROUP BY value_key
) AS found
${by.listsEmpty ? '' : `WHERE value_key != ${isOfRows ? NO_KEY : "''"}\n`}GROUP BY value_key`;
}

/** The same with the slots (docs/glossary.md) of closed days. A visitor can be in rows and in slots, so their visitors are counted together. */
function slotNumbers(scope: SlotScope, by: Dimension, parts: ReportParts): string {
  return `SELECT toString(anyIf(found.value, found.has_text)) AS name, ${countVisitors('found.visitor_key', scope.visits.built.isEstimate)} AS visitors,
  ${SUMS_OF_COUNTS}
FROM
(
  ${countedValues(scope, by, parts)}
) AS found
${by.listsEmpty ? '' : `WHERE found.value_key != ${NO_KEY}\n`}GROUP BY found.value_key`;
}

const SUMS_OF_COUNTS = ['visits', 'pageviews', 'events', 'bounces', 'seconds', 'views']
  .map((name) => `sum(found.${name}) AS ${name}`)
  .join(', ');

function md5(value: string): string {
  return createHash('md5').update(value).digest('hex').toUpperCase();
}
