import { isPlainName } from '../visit-slots/property-sql.ts';
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
      if (property === undefined) return column;
      const name = putProperty(property);
      const value = `toString(getSubcolumn(properties, ${name}))`;
      // ClickHouse can read another name as a part of another property: the integers of `a`, or NULL, for the name a.:`Int64`.
      return isPlainName(property) ? value : `if(has(JSONAllPaths(properties), ${name}), ifNull(${value}, ''), '')`;
    },
  };
}

/** A filter as an SQL condition. `value` is the SQL of the value that is compared. */
export function conditionOf(filter: Filter, value: string, name: string, parameters: Parameters): string {
  const { dimension, operator } = filter;
  const values = dimension.isPath ? filter.values.flatMap(pathSpellings) : filter.values;
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

/**
 * Browsers percent-encode these characters in the path of a URL. Lone surrogates are not among them, because `encodeURIComponent` throws for them.
 */
const ENCODED_IN_URLS = /[^!-~\ud800-\udfff]|["<>`{}]/gu;

/**
 * A path, a part of a path or a glob of paths in the spellings in which browsers send it: as it is, and percent-encoded with capital or small hex
 * digits. Browsers send `/über` as `/%C3%BCber`. If a link has the path as `/%c3%bcber`, they do not change it.
 */
export function pathSpellings(path: string): readonly string[] {
  const encoded = path.replace(ENCODED_IN_URLS, encodeURIComponent);
  const small = path.replace(ENCODED_IN_URLS, (char) => encodeURIComponent(char).toLowerCase());
  return [...new Set([path, encoded, small])];
}

/** Builds patterns in which `*` matches any characters, as in exclusion rules. All other characters match only themselves. */
function patternOf(globs: readonly string[]): string {
  const quoted = globs.map((glob) => glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*'));
  return `(?s)^(?:${quoted.join('|')})$`;
}
