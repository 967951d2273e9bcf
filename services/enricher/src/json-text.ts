/** Anything but printable ASCII, and the two of it that JSON escapes. */
const MAY_NEED_ESCAPES = /[^ !#-[\]-~]/;
const LONE_SURROGATE = /\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}/g;

/** A string as JSON that ClickHouse reads too: it refuses the escapes that JSON.stringify gives for half a surrogate pair. */
export function jsonText(text: string): string {
  if (!MAY_NEED_ESCAPES.test(text)) return `"${text}"`;
  return JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
}

/**
 * Any JSON value, likewise. JSON.stringify escapes surrogates only where they stand alone. A whole number that fits into no
 * 64 bits is written with an exponent: ClickHouse reads digits alone as an integer, and would refuse the row.
 */
export function jsonValue(value: unknown): string {
  let json = JSON.stringify(value);
  if (json.includes('\\ud')) {
    json = json.replace(LONE_SURROGATE, (found) => (found === '\\\\' ? found : '\ufffd'));
  }
  return LONG_DIGITS.test(json) ? json.replace(STRING_OR_LONG_INTEGER, withExponentWhereTooLong) : json;
}

const LONG_DIGITS = /\d{19}/;
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|-?\d{19,}/g;
const INT64_MIN = -(2n ** 63n);
const UINT64_END = 2n ** 64n;

function withExponentWhereTooLong(found: string): string {
  if (found.startsWith('"')) return found;
  // By the digits as they stand: JSON.stringify rounds them, so the number -2^63 is written as one below it.
  return fits64Bits(found) ? found : Number(found).toExponential();
}

/** Whether ClickHouse has an integer for these digits: an Int64 or a UInt64. */
export function fits64Bits(digits: string): boolean {
  const integer = BigInt(digits);
  return integer >= INT64_MIN && integer < UINT64_END;
}
