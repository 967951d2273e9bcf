/**
 * What numbers can be filtered and broken down by. Every identifier that reaches SQL is written in this file; what a caller
 * sends only chooses from it. The name of a property is a parameter of the statement like any other value.
 */
export interface Dimension {
  /** As callers write it. */
  readonly name: string;
  /**
   * `hit`: each row of `events` has its own. `visit`: that of the visit (tables.md, sessions: the first event's), so that every
   * row of a visit has the same; a row without a visit speaks for itself.
   */
  readonly scope: 'hit' | 'visit';
  /** Of a hit: an expression over `events`. Of a visit: a column of `sessions`. */
  readonly sql: string;
  /** Of a visit: the column of `events` that stands in for a row without a visit; empty where there is none. */
  readonly ownSql: string;
  /** Rows without a value are a row of the breakdown too: an unknown country, a direct visit. */
  readonly listsEmpty: boolean;
  /** Of `property:NAME`. */
  readonly property?: string;
}

export const PROPERTY_NAME_CHARS_MAX = 256;
const PROPERTY = 'property:';

const hit = (name: string, sql: string, listsEmpty: boolean): Dimension => ({
  name,
  scope: 'hit',
  sql,
  ownSql: sql,
  listsEmpty,
});
const visit = (name: string, sql: string, ownSql: string, listsEmpty: boolean): Dimension => ({
  name,
  scope: 'visit',
  sql,
  ownSql,
  listsEmpty,
});
const tag = (name: string): Dimension => visit(name, name, name, false);

const DIMENSIONS: readonly Dimension[] = [
  hit('page', 'pathname', false),
  hit('hostname', 'hostname', false),
  visit('entry', 'entry_path', '', false),
  visit('exit', 'exit_path', '', false),
  visit('source', 'traffic_source', 'traffic_source', true),
  visit('channel', 'channel', 'channel', true),
  visit('referrer', 'referrer_domain', 'referrer_domain', true),
  tag('utm_source'),
  tag('utm_medium'),
  tag('utm_campaign'),
  tag('utm_term'),
  tag('utm_content'),
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
  hit('bot', 'bot', false),
];
const BY_NAME = new Map(DIMENSIONS.map((dimension) => [dimension.name, dimension]));

export const DIMENSION_NAMES: readonly string[] = [...BY_NAME.keys(), `${PROPERTY}NAME`];

export function dimensionOf(text: string): Dimension | undefined {
  if (!text.startsWith(PROPERTY)) return BY_NAME.get(text);
  const property = text.slice(PROPERTY.length);
  if (property === '' || [...property].length > PROPERTY_NAME_CHARS_MAX || hasControlCharacter(property))
    return undefined;
  // The name itself is put in by `Parameters`, which says what it is called in the statement.
  return { ...hit(text, '', false), property };
}

export function hasControlCharacter(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f]/.test(text);
}
