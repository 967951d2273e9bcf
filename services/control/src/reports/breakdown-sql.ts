import { MONTH_SKETCH } from '../visit-slots/month-run.ts';
import type { Dimension } from './dimensions.ts';
import type { Order } from './read-query.ts';
import { COUNT_NAMES, type CountName, countNamesOf, type MetricName, metricSql } from './report-metrics.ts';
import {
  COUNT_HITS,
  COUNT_VISITS,
  countVisitors,
  type ReportParts,
  type Scope,
  type Statement,
  sumFound,
} from './report-sql.ts';
import { reportParts } from './visits/report-parts.ts';
import { countedValues } from './visits/slot-counts.ts';
import { readsSlots, type SlotScope, selectMonths } from './visits/slot-rows.ts';
import { NO_KEY } from './visits/visit-rows.ts';

export interface BreakdownPage {
  /** The statement returns only the counts for these metrics and for the order. */
  readonly metrics: readonly MetricName[];
  readonly order: Order<MetricName>;
  readonly rowsMax: number;
  readonly skip: number;
  /** For the statement of a comparison: the hashes of the values that the page of the requested period shows. The result has only these values. */
  readonly hashes?: readonly string[];
}

/**
 * The statement returns one row of `Counts` (report-metrics.ts) for each value of the dimension. The column `name` has the value, and `hash` its hash
 * as text. A visit counts once for each value that one of its rows has. The numbers of a value are therefore those of the stats report with a filter
 * on this value.
 */
export function breakdownStatement(
  scope: Scope,
  by: Dimension,
  { metrics, order, rowsMax, skip, hashes }: BreakdownPage,
): Statement {
  const parts = reportParts(readsSlots(scope) && by.property === undefined ? scope : withoutUnlisted(scope, by), by);
  const { parameters, tables } = parts;
  // JSON has no exact integers of 64 bits, so hashes are sent as texts. The condition is on the GROUP BY key, so that ClickHouse leaves out all other
  // values before it counts.
  const wanted =
    hashes === undefined ? undefined : `CAST(${parameters.put('hashes', 'Array(String)', hashes)}, 'Array(UInt64)')`;
  const asked = { counts: countNamesOf([...metrics, order.metric]), wanted };
  const sql = `${tables}
${readsSlots(scope) ? slotNumbers(scope, by, parts, asked) : rowNumbers(scope, by, parts, asked)}
ORDER BY ${metricSql(order.metric)} ${order.direction.toUpperCase()} NULLS LAST, name
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)} OFFSET ${parameters.put('skip', 'UInt32', skip)}`;
  return { sql, params: parameters.values };
}

/**
 * If `by` is a dimension of rows, leaves out the rows without a value, unless the breakdown lists the empty value. For example, nearly all rows
 * have no bot, or do not have a certain property. Counting these rows takes seconds.
 */
function withoutUnlisted(scope: Scope, by: Dimension): Scope {
  if (by.scope === 'visit' || by.listsEmpty) return scope;
  return { ...scope, filters: [...scope.filters, { dimension: by, operator: 'is_not', values: [''] }] };
}

interface Asked {
  readonly counts: readonly CountName[];
  /** The list of the hashes to which the result is limited. */
  readonly wanted: string | undefined;
}

/**
 * Returns a SELECT … GROUP BY with the numbers of each value. For a value, the subquery `found` returns the counts of the rows, and separately the
 * counts of the visits. The outer SELECT adds the two.
 */
function rowNumbers(
  { withVisits = true }: Scope,
  by: Dimension,
  { hits, hitValue, begunName }: ReportParts,
  { counts, wanted }: Asked,
): string {
  // Values of rows are grouped by their hashes (docs/decisions/0043). A dimension of visits has few values, so they are grouped as texts.
  const isOfRows = by.scope === 'hit';
  const key = isOfRows ? `sipHash64(${hitValue(by)})` : `toString(${hitValue(by)})`;
  const hash = isOfRows ? 'value_key' : 'sipHash64(value_key)';
  const visits = `
  UNION ALL
  SELECT ${begunName.key} AS value_key,${isOfRows ? ` ${begunName.text} AS value_text,` : ''}
    ${COUNT_VISITS}
  FROM begun
  GROUP BY value_key`;
  return `SELECT ${isOfRows ? 'max(found.value_text)' : 'value_key'} AS name, toString(${hash}) AS hash, ${sumFound(counts)}
FROM
(
  SELECT ${key} AS value_key,${isOfRows ? ` toString(any(${hitValue(by)})) AS value_text,` : ''}
    ${COUNT_HITS}
  FROM ${hits}
  GROUP BY value_key${withVisits ? visits : ''}
) AS found
${where(by.listsEmpty ? undefined : `value_key != ${isOfRows ? NO_KEY : "''"}`, wanted && `${hash} IN ${wanted}`)}GROUP BY value_key`;
}

/**
 * Like `rowNumbers`, but counts the slots (docs/glossary.md) of built days instead of their rows, and reads the sums of built months. A visitor can
 * be in all of them, so their visitors are counted together.
 */
function slotNumbers(scope: SlotScope, by: Dimension, parts: ReportParts, { counts, wanted }: Asked): string {
  const { months, isEstimate } = scope.visits.built;
  const values = countedValues(scope, by, parts);
  const isWanted = where(
    by.listsEmpty ? undefined : `found.value_key != ${NO_KEY}`,
    wanted && `found.value_key IN ${wanted}`,
  );
  const text = 'toString(anyIf(found.value, found.has_text))';
  if (months === undefined) {
    return `SELECT ${text} AS name, toString(found.value_key) AS hash,
  ${sumFound(counts, countVisitors('found.visitor_key', isEstimate))}
FROM
(
  ${values}
) AS found
${isWanted}GROUP BY found.value_key`;
  }
  // The visitors of the months are sketches, so those of the other days become sketches too. A visit can begin on these days and have the value only
  // in the months. Then only the months have the text.
  const sums = COUNT_NAMES.filter((name) => name !== 'visitors');
  const ofMonths = selectMonths(
    months,
    by,
    ['sipHash64(value) AS value_key', 'value', 'visitors', ...sums],
    parts.parameters,
  );
  return `SELECT anyIf(found.value, found.value != '') AS name, toString(found.value_key) AS hash,
  ${sumFound(counts, `${MONTH_SKETCH.merge}(found.visitors)`)}
FROM
(
  SELECT found.value_key AS value_key, ${text} AS value, ${MONTH_SKETCH.stateIf}(found.visitor_key, found.visitor_key != ${NO_KEY}) AS visitors,
    ${sums.map((name) => `sum(found.${name}) AS ${name}`).join(', ')}
  FROM
  (
  ${values}
  ) AS found
  GROUP BY value_key
  UNION ALL
  ${ofMonths}
) AS found
${isWanted}GROUP BY found.value_key`;
}

function where(...conditions: readonly (string | undefined)[]): string {
  const all = conditions.filter((condition) => condition !== undefined);
  return all.length === 0 ? '' : `WHERE ${all.join(' AND ')}\n`;
}
