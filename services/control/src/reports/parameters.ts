import type { Dimension } from './dimensions.ts';
import type { Filter } from './filter.ts';

/** Collects the parameters of a statement. The SQL contains only their names, never their values. */
export interface Parameters {
  readonly values: Readonly<Record<string, unknown>>;
  /** Adds a value, and returns its placeholder `{name:Type}`. */
  put(name: string, type: string, value: unknown): string;
  /** Adds the name of a custom property, and returns its placeholder. */
  putProperty(name: string): string;
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
  const putProperty = (property: string): string => {
    const name = properties.get(property) ?? `property${properties.size}`;
    properties.set(property, name);
    return put(name, 'String', property);
  };
  return {
    values,
    put,
    putProperty,
    valueOf({ property }, column) {
      return property === undefined ? column : `toString(getSubcolumn(properties, ${putProperty(property)}))`;
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
