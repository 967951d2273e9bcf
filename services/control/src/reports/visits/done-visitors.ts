import { rowsOutside } from '../../rows-between.ts';
import { type BuiltRun, runConditions } from '../../visit-slots/built-run.ts';
import type { Filter, FilterOperator } from '../filter.ts';
import { conditionOf, type Parameters } from '../parameters.ts';
import { NO_KEY } from './visit-rows.ts';

/** Each operator that excludes visitors, with the operator that selects the same visitors. */
const OPPOSITES: Readonly<Partial<Record<FilterOperator, FilterOperator>>> = {
  is_not: 'is',
  contains_not: 'contains',
  matches_not: 'matches',
};

interface DoneScope {
  /** The conditions for the counted rows of `records` that have the type of the dimension (`doneType`). */
  readonly counted: readonly string[];
  readonly parameters: Parameters;
  /** The days that the report reads from `visit_slots`. For these days, the list of visitors is read from `visit_slots` too. */
  readonly built: BuiltRun | undefined;
}

/**
 * A filter on what visitors have done (docs/decisions/0053), as a condition for the visitor of a row. `visitor`: the SQL of the hash of the
 * visitor. `name`: the name of the parameter with the values. The statement must begin with `doneList`. Rows without a visitor are never in the list
 * of visitors, so they pass only the filters that exclude visitors.
 */
export function doneCondition({ operator }: Filter, name: string, visitor: string): string {
  // If the right side of IN is an array, ClickHouse searches the whole array for each row. The result of a subquery is a hash table instead.
  return `${visitor} ${operator in OPPOSITES ? 'NOT IN' : 'IN'} (SELECT arrayJoin(${listOf(name)}))`;
}

/**
 * The expression of the WITH clause that lists the visitors for `doneCondition`. It is a scalar subquery, because ClickHouse evaluates a scalar
 * subquery once per statement. It evaluates the subquery of an IN once per SELECT.
 */
export function doneList(filter: Filter, name: string, { counted, parameters, built }: DoneScope): string {
  const { dimension } = filter;
  const positive = { ...filter, operator: OPPOSITES[filter.operator] ?? filter.operator };
  const matches = (value: string): string => conditionOf(positive, value, name, parameters);
  const listed = (from: string, conditions: readonly string[]): string =>
    `SELECT visitor_key FROM ${from} WHERE ${[...conditions, `visitor_key != ${NO_KEY}`].join(' AND ')}`;
  const done = [listed('records', [...counted, matches(dimension.sql), ...outside(built, parameters)])];
  if (built !== undefined) {
    const inSlot =
      dimension.doneType === 'event'
        ? `arrayExists(each -> ${matches('each')}, names)`
        : `arrayExists((each, views) -> views > 0 AND ${matches('each')}, pages, page_views)`;
    done.push(listed('visit_slots', [...runConditions(built, parameters), 'hits', inSlot]));
  }
  return `(SELECT groupUniqArray(visitor_key) FROM (${done.join(' UNION ALL ')})) AS ${listOf(name)}`;
}

const listOf = (name: string): string => `${name}_visitors`;

function outside(built: BuiltRun | undefined, parameters: Parameters): readonly string[] {
  if (built === undefined) return [];
  const [from, to] = [parameters.put('run_from', 'Int64', built.fromMs), parameters.put('run_to', 'Int64', built.toMs)];
  return [rowsOutside(from, to)];
}
