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
  /** The SQL of the hash of the row's visitor. */
  readonly visitor: string;
  /** The name of the parameter with the values of the filter. */
  readonly name: string;
  /** The conditions for rows of `records` that count and have the type of the dimension. */
  readonly counted: readonly string[];
  readonly parameters: Parameters;
  /** The days that the report reads from `visit_slots`. The list of visitors is read from `visit_slots` too for these days. */
  readonly built: BuiltRun | undefined;
}

/**
 * A filter on what visitors have done (docs/decisions/0053), as a condition for the visitor of a row. Rows without a visitor are never in the list
 * of visitors, so they pass only the filters that exclude visitors.
 */
export function doneCondition(filter: Filter, { visitor, name, counted, parameters, built }: DoneScope): string {
  const { dimension } = filter;
  const opposite = OPPOSITES[filter.operator];
  const matches = (value: string): string =>
    conditionOf({ ...filter, operator: opposite ?? filter.operator }, value, name, parameters);
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
  return `${visitor} ${opposite === undefined ? 'IN' : 'NOT IN'} (${done.join(' UNION ALL ')})`;
}

function outside(built: BuiltRun | undefined, parameters: Parameters): readonly string[] {
  if (built === undefined) return [];
  const [from, to] = [parameters.put('run_from', 'Int64', built.fromMs), parameters.put('run_to', 'Int64', built.toMs)];
  return [rowsOutside(from, to)];
}
