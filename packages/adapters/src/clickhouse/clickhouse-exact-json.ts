/**
 * If a JSON path has reached its maximum number of types in an insert, ClickHouse converts further values to one of these types: an
 * integer above 2^53 becomes a Float64, and `[null]` becomes `[[]]`. With this setting each value keeps its own type. The
 * setting costs ClickHouse 10 µs per row, so only inserts with such values use it.
 */
const SETTING = 'max_dynamic_subcolumns_in_json_type_parsing';
export const EXACT_JSON_SETTINGS = { [SETTING]: '0' } as const;
export const EXACT_JSON_QUERY = `SELECT count() AS known FROM system.settings WHERE name = '${SETTING}'`;

// An integer of 16 digits or more that is a JSON number: IDs have as many digits, but stand in quotes.
const LOSSY = /[\s:,[]-?\d{16}|\[(?:null,)*null\]/;

export function holdsLossyJson(lines: Buffer): boolean {
  // latin1 copies the bytes without decoding; the pattern only matches ASCII.
  return LOSSY.test(lines.toString('latin1'));
}
