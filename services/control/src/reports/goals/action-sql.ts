import type { Action } from '@weir/domain/registry/goal';
import { dimensionOf } from '../dimensions.ts';
import { conditionOf, type Parameters } from '../parameters.ts';

/** The columns of `hit` that `actionCondition` needs, besides `type`. */
export const ACTION_COLUMNS: readonly string[] = ['event_name', 'pathname'];

/** Returns a condition for the rows of `hit` that match this action. Names and globs are compared as in the filters of reports. */
export function actionCondition({ type, value }: Action, name: string, parameters: Parameters): string {
  const dimension = dimensionOf(type);
  if (dimension === undefined) throw new Error(`there is no dimension ${type}`);
  const operator = type === 'event' ? 'is' : 'matches';
  const matches = conditionOf({ dimension, operator, values: [value] }, `hit.${dimension.sql}`, name, parameters);
  return `hit.type = '${type === 'event' ? 'event' : 'pageview'}' AND ${matches}`;
}
