/**
 * A dump: the rows of `records` of one site with an outcome of DUMP_OUTCOMES, as text with one JSON value per line (docs/decisions/0025).
 *
 *   {"weir_dump":1,"site_id":…,"timezone":…,"exported_at":…,"columns":[…]}
 *   ["row","","",…]         a row of `records`: the values of the columns, in the order of the first line
 *   {"weir_dump_end":1,"rows":1}
 *
 * The last line shows that the dump is complete.
 */

import { parseJson } from '../json/json.ts';
import { RECORDS_COLUMNS_BY_VERSION, type RecordsColumn, STAMP_COLUMNS } from '../records/records-columns.ts';

/**
 * Columns that a dump does not contain. An imported row gets the site of the import and the position of its new raw record. It gets no stamp
 * (docs/glossary.md), because perhaps only some rows of its visit are imported.
 */
const OWN_COLUMNS: readonly RecordsColumn[] = ['site_id', 'log_id', 'raw_partition', 'raw_offset', ...STAMP_COLUMNS];

/**
 * The columns of each version of dumps, version 1 first. A new column of `records` that is not in OWN_COLUMNS makes a new version of dumps:
 * the columns of the previous version, followed by the new column.
 */
const LISTS = distinct(
  Object.values(RECORDS_COLUMNS_BY_VERSION).map((columns) => columns.filter((column) => !OWN_COLUMNS.includes(column))),
);

/** The version of the dumps that this version of Weir writes. Weir also reads dumps of all earlier versions. */
export const DUMP_VERSION = LISTS.length;
export const DUMP_COLUMNS: readonly RecordsColumn[] = LISTS[DUMP_VERSION - 1] ?? [];

/** The number of values in a row of a dump, for each version. */
export const DUMP_ROW_LENGTHS: readonly number[] = LISTS.map((columns) => columns.length);

function distinct(lists: readonly (readonly RecordsColumn[])[]): readonly (readonly RecordsColumn[])[] {
  return [...new Map(lists.map((columns) => [columns.join(), columns])).values()];
}

export function isDumpVersion(version: unknown): version is number {
  return Number.isInteger(version) && (version as number) >= 1 && (version as number) <= DUMP_VERSION;
}

/** The outcomes that a dump contains. Dead letters are not among them, because they refer to positions of the old log. */
export const DUMP_OUTCOMES = ['row', 'identify', 'duplicate', 'dropped'] as const;

/** A line of a dump becomes one raw record. A character has at most 3 bytes, so the record stays below 1 MiB, as all raw records do. */
export const DUMP_LINE_CHARS_MAX = 256 * 1024;

export interface DumpHead {
  readonly weir_dump: number;
  readonly site_id: string;
  readonly timezone: string;
  readonly exported_at: string;
  readonly columns: readonly string[];
}

export function dumpHeadLine(site: { readonly siteId: string; readonly timezone: string }, exportedAt: string): string {
  const head: DumpHead = {
    weir_dump: DUMP_VERSION,
    site_id: site.siteId,
    timezone: site.timezone,
    exported_at: exportedAt,
    columns: DUMP_COLUMNS,
  };
  return `${JSON.stringify(head)}\n`;
}

export function dumpEndLine(rows: number): string {
  return `${JSON.stringify({ weir_dump_end: DUMP_VERSION, rows })}\n`;
}

/** Parses the first line of a dump. Returns undefined if the text is not the first line of a dump. */
export function readDumpHead(line: string): DumpHead | undefined {
  const head = parsed(line) as DumpHead | undefined;
  return typeof head?.weir_dump === 'number' && typeof head.timezone === 'string' ? head : undefined;
}

/** Returns why this version of Weir cannot import the dump; undefined if it can. */
export function dumpProblem({ weir_dump: version, columns }: DumpHead): string | undefined {
  if (!isDumpVersion(version)) {
    const read = DUMP_VERSION === 1 ? 'version 1' : `versions 1 to ${DUMP_VERSION}`;
    return `it has version ${version}; this Weir reads ${read}`;
  }
  const isKnown = JSON.stringify(columns) === JSON.stringify(LISTS[version - 1]);
  return isKnown ? undefined : 'its first line names other columns';
}

/** Returns the number of rows in the last line of a dump. Returns undefined for any other text, and for a dump of an unknown version. */
export function readDumpEnd(line: string): number | undefined {
  const end = parsed(line) as { weir_dump_end?: unknown; rows?: unknown } | undefined;
  return isDumpVersion(end?.weir_dump_end) && typeof end.rows === 'number' ? end.rows : undefined;
}

function parsed(line: string): unknown {
  return line.startsWith('{') ? parseJson(line) : undefined;
}
