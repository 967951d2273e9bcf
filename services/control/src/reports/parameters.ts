import type { Dimension } from './dimensions.ts';
import type { Filter } from './filter.ts';

/** Collects the parameters of a statement. The SQL contains only their names, never their values. */
export interface Parameters {
  readonly values: Readonly<Record<string, unknown>>;
  /** Adds a value, and returns its placeholder `{name:Type}`. */
  put(name: string, type: string, value: unknown): string;
  /** The SQL of a dimension's value: its `column`, or a custom property whose name is a parameter. */
  valueOf(dimension: Dimension, column: string): string;
}

export function createParameters(): Parameters {
  const values: Record<string, unknown> = {};
  const properties = new Map<string, string>();
  const put = (name: string, type: string, value: unknown): string => {
    values[name] = value;
    return `{${name}:${type}}`;
  };
  return {
    values,
    put,
    valueOf({ property }, column) {
      if (property === undefined) return column;
      const name = properties.get(property) ?? `property${properties.size}`;
      properties.set(property, name);
      return `toString(getSubcolumn(properties, ${put(name, 'String', property)}))`;
    },
  };
}

/** A filter as an SQL condition. `value` is the SQL of the value that is compared. */
export function conditionOf({ operator, values }: Filter, value: string, name: string, parameters: Parameters): string {
  switch (operator) {
    case 'is':
      return `${value} IN ${parameters.put(name, 'Array(String)', values)}`;
    case 'is_not':
      return `${value} NOT IN ${parameters.put(name, 'Array(String)', values)}`;
    case 'contains':
    case 'contains_not':
      return `${operator === 'contains' ? '' : 'NOT '}multiSearchAny(${value}, ${parameters.put(name, 'Array(String)', values)})`;
    case 'matches':
    case 'matches_not':
      return `${operator === 'matches' ? '' : 'NOT '}match(${value}, ${parameters.put(name, 'String', patternOf(values))})`;
  }
}

/** Builds patterns in which `*` matches any characters, as in exclusion rules. All other characters match only themselves. */
function patternOf(globs: readonly string[]): string {
  const quoted = globs.map((glob) => glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*'));
  return `(?s)^(?:${quoted.join('|')})$`;
}
