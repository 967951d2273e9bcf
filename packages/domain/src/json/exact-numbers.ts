/** Matches 16 digits. A Float64 stores every whole number with fewer digits exactly. */
const LONG = /\d{16}/;
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const INT64_MIN = -(2n ** 63n);
const UINT64_END = 2n ** 64n;
/** A UInt64 has at most 20 digits. One more character is for a minus sign. */
const DIGITS_64_BITS_MAX = 21;

/** A JSON text in which long whole numbers were replaced by strings, because JSON.parse rounds numbers beyond 2^53. */
export interface MarkedText {
  readonly text: string;
  /** The prefix that marks these strings; the digits follow it. No other string in the text starts with this prefix. */
  readonly mark: string;
}

/** Marks the whole numbers of 16 or more digits for which `which` returns true; `undefined` if there are none. */
export function markLongIntegers(text: string, which: (digits: string) => boolean): MarkedText | undefined {
  if (!LONG.test(text)) return undefined;
  let length = 1;
  while (text.includes(ESCAPED.repeat(length))) length *= 2;
  const escaped = ESCAPED.repeat(length);
  const marked = text.replace(STRING_OR_LONG_INTEGER, (found) =>
    found.startsWith('"') || !which(found) ? found : `"${escaped}${found}"`,
  );
  return marked === text ? undefined : { text: marked, mark: '\u0001'.repeat(length) };
}
/** The only way to write the character U+0001 in JSON. */
const ESCAPED = '\\u0001';

/** Turns the marked strings of a JSON text into numbers again. */
export function withoutMarks(json: string, mark: string): string {
  return json.replace(new RegExp(`"(?:\\\\u0001){${mark.length}}(-?\\d+)"`, 'g'), '$1');
}

/** True if ClickHouse has an integer type for these digits: Int64 or UInt64. */
export function fits64Bits(digits: string): boolean {
  if (digits.length > DIGITS_64_BITS_MAX) return false;
  const integer = BigInt(digits);
  return integer >= INT64_MIN && integer < UINT64_END;
}

/** True if a Float64 keeps all of these digits: true for `100000000000000000000000`, false for `9007199254740993`. */
export function fitsFloat64(digits: string): boolean {
  const number = Number(digits);
  if (!Number.isFinite(number)) return false;
  if (significant(String(number)) === significant(digits)) return true;
  return BigInt(number) === BigInt(digits);
}

function significant(number: string): string {
  const [mantissa = ''] = number.split('e');
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
}
