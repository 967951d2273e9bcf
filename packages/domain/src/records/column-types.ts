import type { ColumnOfVersion1, RecordsColumn } from './records-columns.ts';

/** The types of the values in the line of an enriched record, each with the TypeScript type of a decoded value. */
interface ColumnValues {
  text: string;
  /** A whole number of at least 0. Times are Unix milliseconds. */
  whole: number;
  integer: number;
  'number or null': number | null;
  boolean: boolean;
  object: Readonly<Record<string, unknown>>;
}
export type ColumnType = keyof ColumnValues;

/** The types of the columns that are not texts. */
const TYPES = {
  timestamp: 'whole',
  received_at: 'whole',
  cookieless: 'boolean',
  value: 'number or null',
  properties: 'object',
  screen_width: 'whole',
  screen_height: 'whole',
  raw_partition: 'whole',
  raw_offset: 'whole',
  visit_stamp: 'whole',
  visit_started: 'whole',
  visit_new: 'whole',
  visit_bounces: 'integer',
  visit_seconds: 'whole',
} as const satisfies Readonly<Partial<Record<RecordsColumn, ColumnType>>>;

export function typeOfColumn(column: RecordsColumn): ColumnType {
  return (TYPES as Readonly<Partial<Record<RecordsColumn, ColumnType>>>)[column] ?? 'text';
}

type ValueOf<Column> = ColumnValues[Column extends keyof typeof TYPES ? (typeof TYPES)[Column] : 'text'];

/** The values of a line by column. Lines of version 1 have only the columns of this version. */
export type ColumnsOfLine = { readonly [Column in ColumnOfVersion1]: ValueOf<Column> } & {
  readonly [Column in Exclude<RecordsColumn, ColumnOfVersion1>]?: ValueOf<Column>;
};
