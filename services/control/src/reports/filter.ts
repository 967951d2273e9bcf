import type { Checked } from '../http/compile-body.ts';
import {
  type Dimension,
  FILTER_DIMENSION_NAMES,
  filterDimensionOf,
  hasControlCharacter,
  PROPERTY_NAME_CHARS_MAX,
} from './dimensions.ts';

/**
 * A parsed filter. Its text is `DIMENSION:OPERATOR:VALUE,VALUE`. A comma, a colon or a backslash with a backslash before it is an
 * ordinary character of a value.
 */
export interface Filter {
  readonly dimension: Dimension;
  readonly operator: FilterOperator;
  /** One matching value is enough. With a `_not` operator, none of the values may match. */
  readonly values: readonly string[];
}

export const FILTER_OPERATORS = ['is', 'is_not', 'contains', 'contains_not', 'matches', 'matches_not'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

export const FILTERS_MAX = 20;
export const FILTER_VALUES_MAX = 50;
export const FILTER_VALUE_CHARS_MAX = 1024;

export function readFilters(texts: readonly string[]): Checked<readonly Filter[]> {
  if (texts.length > FILTERS_MAX) return problem(`may be sent at most ${FILTERS_MAX} times`);
  const filters: Filter[] = [];
  for (const text of texts) {
    const read = readFilter(text);
    if ('problem' in read) return read;
    filters.push(read.value);
  }
  return { value: filters };
}

function readFilter(text: string): Checked<Filter> {
  const [first = '', ...others] = split(text, ':');
  const [name, rest] =
    first === 'property' ? [`property:${withoutEscapes(others[0] ?? '')}`, others.slice(1)] : [first, others];
  const dimension = filterDimensionOf(name);
  if (dimension === undefined) {
    return problem(
      `must begin with a dimension (${FILTER_DIMENSION_NAMES.join(', ')}; NAME of at most ${PROPERTY_NAME_CHARS_MAX} chars)`,
    );
  }
  const operator = FILTER_OPERATORS.find((known) => known === rest[0]);
  if (operator === undefined || rest.length < 2) {
    return problem(`must be DIMENSION:OPERATOR:VALUE,VALUE with an operator of ${FILTER_OPERATORS.join(', ')}`);
  }
  const values = split(rest.slice(1).join(':'), ',').map(withoutEscapes);
  if (values.length > FILTER_VALUES_MAX) return problem(`must have at most ${FILTER_VALUES_MAX} values`);
  if (values.some((value) => [...value].length > FILTER_VALUE_CHARS_MAX)) {
    return problem(`must have values of at most ${FILTER_VALUE_CHARS_MAX} chars`);
  }
  if (values.some(hasControlCharacter)) return problem('must not contain control characters');
  if (operator !== 'is' && operator !== 'is_not' && values.includes('')) {
    return problem(`must not have an empty value for ${operator}`);
  }
  if (dimension.doneType !== undefined && values.includes(''))
    return problem(`must not have an empty value for ${name}`);
  return { value: { dimension, operator, values } };
}

/** Splits the text at each separator that is not escaped with a backslash. The backslashes are kept. */
function split(text: string, separator: ':' | ','): string[] {
  const parts = [''];
  for (const token of text.match(/\\.|./gsu) ?? []) {
    if (token === separator) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts;
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\\,:])/g, '$1');
}

function problem(rule: string): { readonly problem: string } {
  return { problem: `filter ${rule}` };
}
