import { RECORDS_COLUMNS, type RecordsColumn } from '../records/records-columns.ts';

/**
 * A dump: everything that Weir stored of a site, as text with one JSON value per line (docs/decisions/0025).
 *
 *   {"weir_dump":1,"site_id":…,"timezone":…,"exported_at":…,"columns":[…]}
 *   ["row","","",…]         a row of `records`: the values of the columns, in the order of the first line
 *   {"weir_dump_end":1,"rows":1}
 *
 * The last line tells a complete dump from one that was cut.
 */
export const DUMP_VERSION = 1;

/** Not in a dump: the site that it is imported into, and where the record stands in a log. */
const OWN_COLUMNS: readonly RecordsColumn[] = ['site_id', 'log_id', 'raw_partition', 'raw_offset'];

/** The columns of version 1. A change of this list is a new version. */
export const DUMP_COLUMNS: readonly RecordsColumn[] = RECORDS_COLUMNS.filter((column) => !OWN_COLUMNS.includes(column));

/** Dead letters are left out: their payload belongs to a position in the log that they come from. */
export const DUMP_OUTCOMES = ['row', 'identify', 'duplicate', 'dropped'] as const;

/** A raw record must fit into a Kafka message of 1 MiB. */
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

/** The first line of a dump; undefined: the text is none. */
export function readDumpHead(line: string): DumpHead | undefined {
  const head = parsed(line) as DumpHead | undefined;
  return typeof head?.weir_dump === 'number' && typeof head.timezone === 'string' ? head : undefined;
}

/** Why this version of Weir cannot import the dump; undefined: it can. */
export function dumpProblem({ weir_dump: version, columns }: DumpHead): string | undefined {
  if (version !== DUMP_VERSION) return `it has version ${version}; this Weir reads version ${DUMP_VERSION}`;
  return JSON.stringify(columns) === JSON.stringify(DUMP_COLUMNS) ? undefined : 'its first line names other columns';
}

/** The number of rows that the last line of a dump names; undefined: the line is not the last one of a dump. */
export function readDumpEnd(line: string): number | undefined {
  const end = parsed(line) as { weir_dump_end?: unknown; rows?: unknown } | undefined;
  return end?.weir_dump_end === DUMP_VERSION && typeof end.rows === 'number' ? end.rows : undefined;
}

function parsed(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as object;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
