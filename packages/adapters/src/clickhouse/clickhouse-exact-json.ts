/**
 * With these settings, a property or trait that looks like a date stays a string. The definition of the view `profiles` contains them, but newer
 * servers ignore the settings of a view in a read-only query. So Weir's connections have these settings too.
 */
export const DATES_STAY_TEXTS = { input_format_try_infer_dates: 0, input_format_try_infer_datetimes: 0 } as const;

/**
 * In an insert, each path of a JSON column has a maximum number of types. ClickHouse converts values of further types to one of the present types:
 * an integer above 2^53 becomes a Float64, and `[null]` becomes `[[]]`. With this setting, each value keeps its own type. The
 * setting costs ClickHouse 10 µs per row, so only inserts with such values use it.
 */
const SETTING = 'max_dynamic_subcolumns_in_json_type_parsing';
export const EXACT_JSON_SETTINGS = { [SETTING]: '0' } as const;
export const EXACT_JSON_QUERY = `SELECT count() AS known FROM system.settings WHERE name = '${SETTING}'`;

const NULLS = /\[(?:null,)*null\]/;

/** Whether ClickHouse could change a value of these rows if they are inserted without `EXACT_JSON_SETTINGS`. */
export function holdsLossyJson(lines: Buffer): boolean {
  // latin1 is the fastest decoding: one character per byte. The pattern contains only ASCII characters.
  return holdsLongInteger(lines) || (lines.includes('[null') && NULLS.test(lines.toString('latin1')));
}

const LONG_DIGITS = 16;
const [ZERO, NINE, MINUS] = Buffer.from('09-') as unknown as readonly [number, number, number];
const BEFORE_NUMBER: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\n\r:,['));

/**
 * Whether the rows contain 16 or more consecutive digits that can be a JSON number. Digits directly after a quote are part of a text, so they do
 * not count. Digits after a space in a text count: the insert then uses the setting without need, which is only slower. The function reads each
 * window of 16 bytes backwards until it finds a byte that is not a digit. The next window begins after this byte. A regular expression took four
 * times as long (1.6 instead of 0.4 µs for a row of 700 bytes), because it reads every byte and needs a copy of the rows as a string.
 */
function holdsLongInteger(bytes: Uint8Array): boolean {
  const { length } = bytes;
  for (let start = 0; start + LONG_DIGITS <= length; ) {
    let at = start + LONG_DIGITS - 1;
    while (at >= start && isDigit(bytes[at] as number)) at--;
    if (at < start) {
      if (BEFORE_NUMBER.has(bytes[bytes[at] === MINUS ? at - 1 : at])) return true;
      at = start + LONG_DIGITS;
      while (at < length && isDigit(bytes[at] as number)) at++;
    }
    start = at + 1;
  }
  return false;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
