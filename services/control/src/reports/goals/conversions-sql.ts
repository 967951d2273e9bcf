import type { Action } from '@weir/domain/registry/goal';
import type { Dimension } from '../dimensions.ts';
import type { Parameters } from '../parameters.ts';
import type { Order } from '../read-query.ts';
import { ROWS_OF_PERIOD, type Scope, type Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';
import { ACTION_COLUMNS, actionCondition } from './action-sql.ts';

const COLUMNS = [...ACTION_COLUMNS, 'event_id', 'value', 'value_text'];
const ALL_VISITORS = "uniqExactIf(hit.visitor_id, hit.visitor_id != '')";
/** A condition for rows with a value. Only such rows can be payments (docs/people-and-money.md). */
const HAS_VALUE = "(hit.value IS NOT NULL OR hit.value_text != '')";

/**
 * The statement returns one row for each goal with conversions (`goal` is the place of the goal in the list, from 1), and one row for all
 * counted rows (`goal` is 0). `with_value` is the number of conversions that may be payments.
 */
export function goalsStatement(scope: Scope, goals: readonly Action[]): Statement {
  const { parameters, tables, hits } = reportParts(scope, undefined, COLUMNS);
  const sql = `${tables}
SELECT goal, count() AS conversions, uniqExactIf(visitor_id, visitor_id != '') AS visitors, countIf(has_value) AS with_value
FROM
(
  SELECT hit.visitor_id AS visitor_id, ${HAS_VALUE} AS has_value, arrayJoin(arrayConcat([0], ${matched(goals, parameters)})) AS goal
  FROM ${hits}
) AS found
GROUP BY goal
ORDER BY goal`;
  return { sql, params: parameters.values };
}

/** The statement returns the sum of the payments among the conversions of each goal, by currency. */
export function goalRevenueStatement(scope: Scope, goals: readonly Action[]): Statement {
  const { parameters, tables, hits } = reportParts(scope, undefined, COLUMNS);
  const sql = `${tables}
SELECT goal, ${SUM_PAID}
FROM
(
  SELECT hit.event_id AS event_id, arrayJoin(${matched(goals, parameters)}) AS goal
  FROM ${hits}
) AS conversion
INNER JOIN ${PAID} AS paid ON paid.event_id = conversion.event_id
GROUP BY goal, currency
ORDER BY goal, currency`;
  return { sql, params: parameters.values };
}

export const CONVERSION_ORDERS = {
  conversions: 'conversions',
  converting_visitors: 'converting_visitors',
  visitors: 'visitors',
  conversion_rate: 'converting_visitors / visitors',
} as const;
export type ConversionMetric = keyof typeof CONVERSION_ORDERS;

export interface ConversionsPage {
  readonly order: Order<ConversionMetric>;
  readonly rowsMax: number;
  readonly skip: number;
}

/**
 * The statement returns one row for each value of a dimension (`name`): the conversions of one goal, the converting visitors, and all
 * visitors. `hash` is the hash of the value, as text, because JSON has no exact integers of 64 bits.
 */
export function conversionsStatement(scope: Scope, goal: Action, by: Dimension, page: ConversionsPage): Statement {
  const { parameters, tables, hits, hitValue } = reportParts(scope, by, COLUMNS);
  const isGoal = actionCondition(goal, 'goal', parameters);
  const { order, rowsMax, skip } = page;
  const sql = `${tables}
SELECT toString(${hitValue(by)}) AS name, toString(sipHash64(name)) AS hash, countIf(${isGoal}) AS conversions,
  uniqExactIf(hit.visitor_id, hit.visitor_id != '' AND ${isGoal}) AS converting_visitors, ${ALL_VISITORS} AS visitors,
  countIf(${isGoal} AND ${HAS_VALUE}) AS with_value
FROM ${hits}
GROUP BY name${by.listsEmpty ? '' : "\nHAVING name != ''"}
ORDER BY ${CONVERSION_ORDERS[order.metric]} ${order.direction.toUpperCase()} NULLS LAST, name
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)} OFFSET ${parameters.put('skip', 'UInt32', skip)}`;
  return { sql, params: parameters.values };
}

/**
 * The statement returns the sum of the payments among the conversions of one goal, by value of the dimension and by currency, for the values whose
 * hashes are given.
 */
export function conversionRevenueStatement(
  scope: Scope,
  goal: Action,
  by: Dimension,
  hashes: readonly string[],
): Statement {
  const { parameters, tables, hits, hitValue } = reportParts(scope, by, COLUMNS);
  const sql = `${tables}
SELECT name, ${SUM_PAID}
FROM
(
  SELECT toString(${hitValue(by)}) AS name, if(${actionCondition(goal, 'goal', parameters)}, hit.event_id, '') AS event_id
  FROM ${hits}
) AS conversion
INNER JOIN ${PAID} AS paid ON paid.event_id = conversion.event_id
WHERE sipHash64(name) IN CAST(${parameters.put('hashes', 'Array(String)', hashes)}, 'Array(UInt64)')
GROUP BY name, currency
ORDER BY name, currency`;
  return { sql, params: parameters.values };
}

/** SQL of the array of the goals that a row matches: their places in the list, from 1. */
function matched(goals: readonly Action[], parameters: Parameters): string {
  const places = goals.map(
    (goal, index) => `if(${actionCondition(goal, `goal${index}`, parameters)}, ${index + 1}, 0)`,
  );
  return `arrayFilter(place -> place > 0, [${places.join(', ')}])`;
}

/**
 * Sums payments, refunds included. The sum has 76 digits, so that it cannot overflow. `PAID` has the payments whose amount is a decimal number. It
 * reads `payments_log` and not the view `payments`, which is slower: the view also finds the source of each payment in the whole history of the site.
 */
const SUM_PAID = 'paid.currency AS currency, toString(sum(toDecimal256(paid.amount, 18))) AS amount';
const PAID = `(
  SELECT event_id, currency, amount FROM payments_log WHERE site_id = {site:String} AND ${ROWS_OF_PERIOD} AND amount IS NOT NULL
)`;
