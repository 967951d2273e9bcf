import type { RecordsColumn } from './records-columns.ts';

/**
 * The default values of the columns that are not texts. `timestamp`, `received_at`, `raw_partition` and `raw_offset` have no default here,
 * because each caller passes their values.
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
 * Encodes the row of a dead letter: one line of JSONCompactEachRow with the values of `columns`, in their order. A column without a value
 * gets its value from NEUTRAL, or an empty text. The same values always give the same bytes.
 */
export function deadRowLine(
  columns: readonly string[],
  values: Readonly<Partial<Record<RecordsColumn, unknown>>>,
): Uint8Array {
  const given: Readonly<Record<string, unknown>> = { outcome: 'dead', ...NEUTRAL, ...values };
  const line = columns.map((column) => (given[column] === undefined ? '' : given[column]));
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
