import { fits64Bits } from '@weir/domain/json/exact-numbers';

/** Matches characters that are not printable ASCII, and the two printable characters that JSON escapes. */
const MAY_NEED_ESCAPES = /[^ !#-[\]-~]/;
const LONE_SURROGATE = /\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}/g;

/** Returns a string as JSON. A lone surrogate becomes U+FFFD, because ClickHouse refuses the escape that JSON.stringify writes for it. */
export function jsonText(text: string): string {
  if (text === '') return '""';
  if (!MAY_NEED_ESCAPES.test(text)) return `"${text}"`;
  return JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
}

const ANYTHING = /^/;

/**
 * Returns the same text in a form that needs less memory in a cache. V8 keeps a concatenation as a tree of its parts until, for example, a
 * regular expression reads it.
 */
export function flat(text: string): string {
  ANYTHING.test(text);
  return text;
}

/**
 * Returns any value as JSON. A lone surrogate becomes U+FFFD, as in `jsonText`. A whole number that does not fit into 64 bits is written
 * with an exponent: ClickHouse reads digits without an exponent as an integer, and would refuse the row.
 */
export function jsonValue(value: unknown): string {
  let json = JSON.stringify(value);
  if (json.includes('\\ud')) {
    json = json.replace(LONE_SURROGATE, (found) => (found === '\\\\' ? found : '\ufffd'));
  }
  return LONG_DIGITS.test(json) ? json.replace(STRING_OR_LONG_INTEGER, withExponentWhereTooLong) : json;
}

const LONG_DIGITS = /\d{19}/;
/** Small numbers such as 0.0000027890519600733534 have 19 or more digits after the decimal point. The pattern does not match them. */
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{19,}(?![\d.])/g;

function withExponentWhereTooLong(found: string): string {
  if (found.startsWith('"')) return found;
  // The digits are compared, and not the number, because JSON.stringify rounds: it writes -2^63 as a smaller number.
  return fits64Bits(found) ? found : Number(found).toExponential();
}
