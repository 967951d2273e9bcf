import { DUMP_LINE_CHARS_MAX, dumpProblem, readDumpEnd, readDumpHead } from '@weir/domain/dump/dump-format';
import { readDumpedRow } from '@weir/domain/dump/dumped-row';
import type { Json } from '@weir/domain/json/json';
import { CliError } from '../exit-codes.ts';
import type { LogFile } from './open-log-file.ts';
import { readLines } from './read-lines.ts';
import { readLogBytes } from './read-log-bytes.ts';
import type { LogScan } from './scan-log.ts';

/**
 * The body of one call that imports a chunk of a dump (docs/glossary.md), without its field `lease`. Line numbers begin with 1 at the second line
 * of the file, because the first line has no row.
 */
export interface RowChunk {
  readonly first_line: number;
  readonly last_line: number;
  readonly rows: readonly Json[];
}

const CHUNK_ROWS_MAX = 2000;
const CHUNK_TEXT_CHARS_MAX = 2 * 1024 * 1024;
/** JSON can write a character as an escape of six characters. */
const LINE_CHARS_MAX = 6 * DUMP_LINE_CHARS_MAX;
/** A dump has a first line with its version and a last line with the number of rows. */
const LINES_WITHOUT_ROW = 2;

/** Reads the time zone of the site from which the dump was exported. Resolves with undefined if the file is not a dump. */
export async function dumpTimezone(log: LogFile): Promise<string | undefined> {
  for await (const [line = ''] of readLines(readLogBytes(log), LINE_CHARS_MAX)) {
    const head = readDumpHead(line);
    if (head === undefined) return undefined;
    const problem = dumpProblem(head);
    if (problem !== undefined) throw new CliError(`can't import the dump: ${problem}`);
    return head.timezone;
  }
  return undefined;
}

/** Returns the number of rows of a dump. Throws if the dump is incomplete. Call it before the first row is imported. */
export function dumpRows({ lines, lastLine }: LogScan): number {
  const rows = readDumpEnd(lastLine);
  if (rows === undefined) throw new CliError('the dump ends before its last line: it is incomplete. Export it again');
  if (rows !== lines - LINES_WITHOUT_ROW) {
    throw new CliError(
      `the dump has ${lines - LINES_WITHOUT_ROW} rows, but its last line names ${rows}: it was changed. Export it again`,
    );
  }
  return rows;
}

/** Groups the rows after row number `rowsDone` into chunks. `count`: the number of rows of the dump. */
export async function* chunkRows(
  log: LogFile,
  count: number,
  rowsDone: number,
  interrupted: AbortSignal,
): AsyncGenerator<RowChunk> {
  let line = -1;
  let first = rowsDone + 1;
  let chars = 0;
  let rows: Json[] = [];
  for await (const run of readLines(readLogBytes(log, interrupted), LINE_CHARS_MAX)) {
    for (const text of run) {
      line += 1;
      if (line <= rowsDone || line > count) continue;
      rows.push(rowOf(text, line));
      chars += text.length;
      if (rows.length < CHUNK_ROWS_MAX && chars < CHUNK_TEXT_CHARS_MAX) continue;
      yield { first_line: first, last_line: line, rows };
      first = line + 1;
      chars = 0;
      rows = [];
    }
  }
  if (rows.length > 0) yield { first_line: first, last_line: first + rows.length - 1, rows };
}

function rowOf(text: string, row: number): Json {
  const line = `line ${row + 1} of the dump`;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) throw new CliError(`${line} is not JSON. Export it again`);
    throw error;
  }
  const read = readDumpedRow(value);
  if (typeof read === 'string') throw new CliError(`${line}: ${read}. Export it again`);
  return value;
}
