import { UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import type { Checked } from '../http/compile-body.ts';

/**
 * A dimension for filters and breakdowns. All SQL identifiers come from this file: a request can only select one of them. The
 * name of a custom property is a parameter of the statement, like any other value.
 */
export interface Dimension {
  /** The name of the dimension in requests. */
  readonly name: string;
  /**
   * `hit`: each row of `events` has its own value. `visit`: all rows of a visit have the value of the visit, which is the value
   * of its first event (docs/tables.md, sessions). A row without a visit has its own value.
   */
  readonly scope: 'hit' | 'visit';
  /** For `hit`: an expression over the columns of `events`. For `visit`: a column of `sessions`. */
  readonly sql: string;
  /** The expression for rows without a visit. For `visit`, it is a column of `events`, or empty if there is no such column. */
  readonly ownSql: string;
  /** For `visit`: the column of `records` that has the value on each row of the visit (docs/decisions/0035). Empty if there is no such column. */
  readonly stampSql: string;
  /** True if the breakdown also has a row for the empty value, for example for an unknown country or a direct visit. */
  readonly listsEmpty: boolean;
  /** True if only rows of bots have a value. */
  readonly isOfBots?: boolean;
  /** True if a site often has thousands of values of this dimension. */
  readonly hasManyValues?: boolean;
  /** True if the values are paths of pages. A filter can then have them in the spelling of URLs, or as people write them (`pathSpellings`). */
  readonly isPath?: boolean;
  /** The part NAME of a dimension `property:NAME`. */
  readonly property?: string;
  /**
   * Only for filters on what a visitor has done: the type of the rows whose value (`sql`) is compared. The filter selects the visitors who have such
   * a counted row with a matching value in the period. With a `_not` operator, it excludes them.
   */
  readonly doneType?: 'event' | 'pageview';
}

export const PROPERTY_NAME_CHARS_MAX = 256;
const PROPERTY = 'property:';

const hit = (name: string, sql: string, listsEmpty: boolean): Dimension => ({
  name,
  scope: 'hit',
  sql,
  ownSql: sql,
  stampSql: '',
  listsEmpty,
});
const visit = (
  name: string,
  [sql, ownSql, stampSql]: readonly [string, string, string],
  listsEmpty: boolean,
): Dimension => ({ name, scope: 'visit', sql, ownSql, stampSql, listsEmpty });

const DIMENSIONS: readonly Dimension[] = [
  { ...hit('page', 'pathname', false), hasManyValues: true, isPath: true },
  hit('hostname', 'hostname', false),
  { ...visit('entry', ['entry_path', '', 'visit_entry'], false), hasManyValues: true, isPath: true },
  { ...visit('exit', ['exit_path', '', ''], false), hasManyValues: true, isPath: true },
  visit('source', ['traffic_source', 'traffic_source', 'visit_source'], true),
  visit('channel', ['channel', 'channel', 'visit_channel'], true),
  visit('referrer', ['referrer_domain', 'referrer_domain', 'visit_referrer_domain'], true),
  ...UTM_TAGS.map((name) => visit(name, [name, name, `visit_${name}`], false)),
  hit('country', 'country', true),
  hit('region', 'region', true),
  hit('city', 'city', true),
  hit('language', 'language', true),
  hit('browser', 'browser', true),
  hit('browser_version', 'browser_version', true),
  hit('os', 'os', true),
  hit('os_version', 'os_version', true),
  hit('device', 'device_type', true),
  hit('event', 'event_name', false),
  hit('origin', 'source', false),
  { ...hit('bot', 'bot', false), isOfBots: true },
  { ...hit('bot_reason', 'bot_reason', false), isOfBots: true },
];
const DONE_DIMENSIONS: readonly Dimension[] = [
  { ...hit('done_event', 'event_name', false), doneType: 'event' },
  { ...hit('viewed_page', 'pathname', false), doneType: 'pageview', isPath: true },
];
const BY_NAME = new Map(DIMENSIONS.map((dimension) => [dimension.name, dimension]));

/** The names of the dimensions that are columns. Custom properties are not among them. */
export const COLUMN_DIMENSION_NAMES: readonly string[] = [...BY_NAME.keys()];
export const DONE_DIMENSION_NAMES: readonly string[] = DONE_DIMENSIONS.map(({ name }) => name);
const DIMENSION_NAMES: readonly string[] = [...COLUMN_DIMENSION_NAMES, `${PROPERTY}NAME`];
export const FILTER_DIMENSION_NAMES: readonly string[] = [...DONE_DIMENSION_NAMES, ...DIMENSION_NAMES];

export function readDimension(text: string): Checked<Dimension> {
  const dimension = dimensionOf(text);
  if (dimension !== undefined) return { value: dimension };
  return {
    problem: `dimension must be one of ${DIMENSION_NAMES.join(', ')} (${DONE_DIMENSION_NAMES.join(' and ')} are only for filters)`,
  };
}

export function filterDimensionOf(text: string): Dimension | undefined {
  return DONE_DIMENSIONS.find(({ name }) => name === text) ?? dimensionOf(text);
}

export function dimensionOf(text: string): Dimension | undefined {
  if (!text.startsWith(PROPERTY)) return BY_NAME.get(text);
  const property = text.slice(PROPERTY.length);
  if (property === '' || [...property].length > PROPERTY_NAME_CHARS_MAX || hasControlCharacter(property))
    return undefined;
  // The SQL is empty: `Parameters.valueOf` (parameters.ts) makes it from the name of the property, which becomes a parameter of the statement.
  return { ...hit(text, '', false), property, hasManyValues: true };
}

export function hasControlCharacter(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function searches for control characters
  return /[\u0000-\u001f]/.test(text);
}
