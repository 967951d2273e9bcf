import { bodyTextOf } from '@weir/domain/body-text';
import type { Json, JsonObject } from '@weir/domain/json';
import { fits64Bits, jsonValue } from './json-text.ts';

/** A Float64 holds every whole number of fewer digits. */
const MAY_BE_ROUNDED = /\d{16}/;
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,20}(?![\d.eE])/g;
/** As JSON has it. A body that sends it itself keeps its rounded numbers. */
const MARK = '\\u0001';
const MARKED = /"\\u0001(-?\d+)"/g;

/**
 * A part of a record's body as JSON, with its whole numbers as they were sent: JSON.parse rounds them beyond 2^53, where the IDs
 * of many systems lie, and ClickHouse has 64 bits. `sentAs` finds what was sent as `value` in the body.
 */
export function exactJson(value: Json, record: Uint8Array, sentAs: (body: JsonObject) => Json | undefined): string {
  const json = jsonValue(value);
  if (!MAY_BE_ROUNDED.test(json)) return json;
  const text = bodyTextOf(record);
  if (text.includes(MARK)) return json;
  const marked = text.replace(STRING_OR_LONG_INTEGER, markWhereItFits);
  if (marked === text) return json;
  return jsonValue(withMarks(value, sentAs(JSON.parse(marked) as JsonObject))).replace(MARKED, '$1');
}

function markWhereItFits(found: string): string {
  return found.startsWith('"') || !fits64Bits(found) ? found : `"${MARK}${found}"`;
}

/** `value` with the marked texts in place of its numbers. As deep as the limits of properties allow. */
function withMarks(value: Json, marked: Json | undefined): Json {
  if (typeof value === 'number') return typeof marked === 'string' ? marked : value;
  if (typeof value !== 'object' || value === null || typeof marked !== 'object' || marked === null) return value;
  if (Array.isArray(value)) return value.map((one, i) => withMarks(one, (marked as readonly Json[])[i]));
  const entries = Object.entries(value).map(([key, one]) => [key, withMarks(one, (marked as JsonObject)[key])]);
  return Object.fromEntries(entries) as JsonObject;
}
