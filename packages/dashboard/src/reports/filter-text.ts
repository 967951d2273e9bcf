/** A filter of the reports as in the query parameter: DIMENSION:OPERATOR:VALUE,VALUE. docs/stats.md describes it. */
export interface ReportFilter {
  /** A dimension, or `property:NAME`. */
  readonly dimension: string;
  readonly operator: FilterOperator;
  readonly values: readonly string[];
}

export const FILTER_OPERATORS = ['is', 'is_not', 'contains', 'contains_not', 'matches', 'matches_not'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** The longest value that the admin API takes in a filter. */
const VALUE_CHARS_MAX = 1024;

/** Whether reports can be filtered by the value. The admin API refuses longer values, and control characters such as line breaks. */
export function canFilter(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function searches for control characters
  return [...value].length <= VALUE_CHARS_MAX && !/[\u0000-\u001f]/.test(value);
}

export function formatFilter({ dimension, operator, values }: ReportFilter): string {
  const [head = '', ...rest] = dimension.split(':');
  const name = rest.length === 0 ? head : `${head}:${escapeText(rest.join(':'), /[\\:]/g)}`;
  return `${name}:${operator}:${values.map((value) => escapeText(value, /[\\,]/g)).join(',')}`;
}

/** Returns undefined if the text is not a filter, because a URL can contain any text. */
export function parseFilter(text: string): ReportFilter | undefined {
  const parts = splitUnescaped(text, ':');
  const size = parts[0] === 'property' ? 2 : 1;
  const operator = FILTER_OPERATORS.find((one) => one === parts[size]);
  if (operator === undefined || parts.length < size + 2) return undefined;
  const dimension = [parts[0] ?? '', ...parts.slice(1, size).map(unescapeText)].join(':');
  const values = splitUnescaped(parts.slice(size + 1).join(':'), ',').map(unescapeText);
  return { dimension, operator, values };
}

const escapeText = (text: string, special: RegExp): string => text.replace(special, '\\$&');
/** A backslash escapes only `\`, `,` and `:`. Before other characters it is an ordinary character, as in services/control/src/reports/filter.ts. */
const unescapeText = (text: string): string => text.replace(/\\([\\,:])/g, '$1');

/** Splits at each separator without a backslash before it. Backslashes stay. */
function splitUnescaped(text: string, separator: string): readonly string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === separator) {
      parts.push('');
      continue;
    }
    const taken = char === '\\' ? text.slice(at, at + 2) : char;
    parts[parts.length - 1] += taken;
    at += taken.length - 1;
  }
  return parts;
}
