import { type DumpedRow, readDumpedRow } from '@weir/domain/dump/dumped-row';
import type { Json } from '@weir/domain/json/json';
import type { Checked } from '../http/compile-body.ts';

/**
 * The body of a request with consecutive lines of a file. For an access log, `hits` has the pageviews in these lines. For a dump, `rows` has one
 * row for each line.
 */
export interface SentChunk {
  readonly lease: string;
  readonly first_line: number;
  readonly last_line: number;
  readonly hits?: readonly ImportHit[];
  readonly rows?: readonly (readonly Json[])[];
}

/** A validated `SentChunk`. At least one of `hits` and `rows` is empty. */
export interface ImportChunk {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly hits: readonly ImportHit[];
  readonly rows: readonly DumpedRow[];
}

export interface ImportHit {
  readonly line: number;
  /** The time of the pageview in Unix milliseconds. */
  readonly timestamp: number;
  readonly ip: string;
  /** The user agent. Absent if the access log has no field for it. */
  readonly user_agent?: string;
  readonly url: string;
  readonly referrer: string;
}

/**
 * Converts a sent chunk. Checks the rules that the schema of a chunk does not contain. The numbers of the lines must fit together. A chunk has
 * either hits or rows. A dump has one row for each line, and the values of these rows are valid.
 */
export function readChunk({ first_line: firstLine, last_line: lastLine, hits, rows }: SentChunk): Checked<ImportChunk> {
  if (lastLine < firstLine) return { problem: 'last_line must be at least first_line' };
  if ((hits === undefined) === (rows === undefined)) return { problem: 'a chunk must have either hits or rows' };
  let previous = firstLine - 1;
  for (const { line } of hits ?? []) {
    if (line <= previous || line > lastLine) return { problem: 'line must rise within first_line and last_line' };
    previous = line;
  }
  if (rows !== undefined && rows.length !== lastLine - firstLine + 1)
    return { problem: 'rows must have one row per line' };
  const dumped: DumpedRow[] = [];
  for (const [index, sent] of (rows ?? []).entries()) {
    const row = readDumpedRow(sent);
    if (typeof row === 'string') return { problem: `row ${firstLine + index}: ${row}` };
    dumped.push(row);
  }
  return { value: { firstLine, lastLine, hits: hits ?? [], rows: dumped } };
}
