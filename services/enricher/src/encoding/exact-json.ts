import { fits64Bits, markLongIntegers, withoutMarks } from '@weir/domain/json/exact-numbers';
import type { Json, JsonObject } from '@weir/domain/json/json';
import { bodyTextOf } from '@weir/domain/records/body-text';
import { jsonValue } from './json-text.ts';

/**
 * Matches JSON that can contain a rounded number. A Float64 represents whole numbers of up to 15 digits exactly, so only longer numbers can be
 * rounded. A number that fits into 64 bits can become too large for them when it is rounded. `jsonValue` has then written it with an exponent
 * (`e+18` or `e+19`).
 */
const MAY_BE_ROUNDED = /\d{16}|e\+1/;

/**
 * Returns `value`, a part of a record's body, as JSON with whole numbers exactly as they were sent. JSON.parse rounds numbers above 2^53,
 * which many systems use as IDs, but ClickHouse stores 64 bits. `sentAs` returns the part of the parsed body from which `value` was read.
 */
export function exactJson(value: Json, record: Uint8Array, sentAs: (body: JsonObject) => Json | undefined): string {
  const json = jsonValue(value);
  if (!MAY_BE_ROUNDED.test(json)) return json;
  const marked = markLongIntegers(bodyTextOf(record), fits64Bits);
  if (marked === undefined) return json;
  return withoutMarks(jsonValue(withMarks(value, sentAs(JSON.parse(marked.text) as JsonObject))), marked.mark);
}

/**
 * Returns a copy of `value`. `marked` is the same JSON value, but has a text instead of each long number. The copy has these texts too.
 * Properties have at most 5 levels, which limits the recursion.
 */
function withMarks(value: Json, marked: Json | undefined): Json {
  if (typeof value === 'number') return typeof marked === 'string' ? marked : value;
  if (typeof value !== 'object' || value === null || typeof marked !== 'object' || marked === null) return value;
  if (Array.isArray(value)) return value.map((one, i) => withMarks(one, (marked as readonly Json[])[i]));
  const entries = Object.entries(value).map(([key, one]) => [key, withMarks(one, (marked as JsonObject)[key])]);
  return Object.fromEntries(entries) as JsonObject;
}
