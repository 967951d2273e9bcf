import type { RecordsColumn } from './records-columns.ts';

/**
 * The neutral values of the columns that are not texts. `timestamp`, `received_at`, `raw_partition` and `raw_offset` are missing here: each
 * caller gives them.
 */
const NEUTRAL = {
  cookieless: false,
  value: 0,
  properties: {},
  screen_width: 0,
  screen_height: 0,
  visit_stamp: 0,
  visit_started: 0,
  visit_new: 0,
  visit_bounces: 0,
  visit_seconds: 0,
} as const;

/**
 * Encodes the row of a dead letter with a column list, as JSONCompactEachRow with a line feed. Columns without a value get an empty text, or
 * the neutral value of their type. The same values always give the same bytes.
 */
export function deadRowLine(
  columns: readonly string[],
  values: Readonly<Partial<Record<RecordsColumn, unknown>>>,
): Uint8Array {
  const given: Readonly<Record<string, unknown>> = { outcome: 'dead', ...NEUTRAL, ...values };
  const line = columns.map((column) => (given[column] === undefined ? '' : given[column]));
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
