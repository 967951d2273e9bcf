import {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { namesIn, type Part, parsePart, type TableFolder } from './table-folders.ts';

/** A position in the deduplication logs of a table. */
export interface LogPosition {
  /** The number of the log. It is 0 before the first log. */
  readonly log: number;
  readonly bytes: number;
}

/** A line of a deduplication log: the deduplication token of an insert was added, or dropped. */
export interface TokenEntry {
  readonly isAdded: boolean;
  readonly part: Part;
  /** The token, as ClickHouse writes it. */
  readonly token: string;
  /** Where the line begins. */
  readonly at: LogPosition;
}

export interface TokenEntries {
  /** The lines whose end is intact, oldest first. */
  readonly entries: readonly TokenEntry[];
  /** The end of the last line. */
  readonly end: LogPosition;
  /** Logs with lines that are not intact. */
  readonly damaged: readonly number[];
  /** False if the log of `from` (for BEGINNING: log 1) is missing, or is shorter than `from`. Then `entries` may lack tokens. */
  readonly isComplete: boolean;
}

export const BEGINNING: LogPosition = { log: 0, bytes: 0 };

const LOG = /^deduplication_log_(\d+)\.txt$/;
/** If a loss of power destroyed bytes before a line, the line can begin with a part of another line or with NUL bytes. Its end is then intact. */
const ENTRY = /([12])\t([^\t\0]+)\t([^\t\0]+)$/;
const ADDED = '1';
const DROPPED = '2';

export function logFile({ logs }: TableFolder, log: number): string {
  return join(logs, `deduplication_log_${log}.txt`);
}

/** The numbers of the logs of a table, in order. When a log is full, ClickHouse creates the next one. */
export function logNumbers({ logs }: TableFolder): readonly number[] {
  return namesIn(logs)
    .flatMap((name) => LOG.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** The end of all logs of a table. */
export function endOfLogs(table: TableFolder): LogPosition {
  const log = logNumbers(table).at(-1);
  return log === undefined ? BEGINNING : readTokens(table, { log, bytes: 0 }).end;
}

/** The beginning of the newest log that has tokens. A new log is empty at first. */
export function newestLog(table: TableFolder): LogPosition {
  const from = (log: number): LogPosition => ({ log, bytes: 0 });
  return from(logNumbers(table).findLast((log) => readTokens(table, from(log)).entries.length > 0) ?? 0);
}

/** Reads the tokens that were written since `from`. */
export function readTokens(table: TableFolder, from: LogPosition): TokenEntries {
  const numbers = logNumbers(table);
  const entries: TokenEntry[] = [];
  const damaged: number[] = [];
  let isComplete = from.log === 0 ? (numbers[0] ?? 1) === 1 : numbers.includes(from.log);
  let end = from;
  for (const log of numbers.filter((number) => number >= from.log)) {
    const begin = log === from.log ? from.bytes : 0;
    const text = readFrom(logFile(table, log), begin);
    if (text === undefined) isComplete = false;
    else if (!readLines(text, { log, bytes: begin }, entries)) damaged.push(log);
    end = { log, bytes: begin + (text ?? '').lastIndexOf('\n') + 1 };
  }
  return { entries, end, damaged, isComplete };
}

/** Adds the lines whose end is intact to `entries`. Returns false if a line is damaged. */
function readLines(text: string, from: LogPosition, entries: TokenEntry[]): boolean {
  const lines = text.split('\n');
  let isIntact = lines.pop() === '';
  let bytes = from.bytes;
  for (const line of lines) {
    const [found, operation, name = '', token = ''] = ENTRY.exec(line) ?? [];
    const part = parsePart(name);
    if (found?.length !== line.length || part === undefined) isIntact = false;
    if (part !== undefined) entries.push({ isAdded: operation === ADDED, part, token, at: { log: from.log, bytes } });
    bytes += line.length + 1;
  }
  return isIntact;
}

/**
 * Writes each log that has a damaged line after `from` again, without the damaged bytes. ClickHouse stops reading a log at a damaged line,
 * and would not know the later tokens. The engine must be closed. Returns whether a log had damaged lines.
 */
export function removeDamagedLines(table: TableFolder, from: LogPosition, temporary: string): boolean {
  const { entries, damaged } = readTokens(table, from);
  for (const log of damaged) {
    const file = logFile(table, log);
    const begin = log === from.log ? from.bytes : 0;
    const kept = readFrom(file, 0)?.slice(0, begin) ?? '';
    const lines = entries.filter(({ at }) => at.log === log).map(lineOf);
    // On a full disk `writeFileSync` throws, and the old log stays. `writeSync` could write only a part of the bytes without an error.
    writeFileSync(temporary, Buffer.from(kept + lines.join(''), 'latin1'), { mode: 0o600, flush: true });
    renameSync(temporary, file);
    syncFolder(table.logs);
  }
  return damaged.length > 0;
}

/**
 * Adds lines that make ClickHouse forget tokens, as ClickHouse does when a part is dropped. The engine must be closed. Throws if the disk is
 * full. A line can then be incomplete: the repair at the next start removes it, and adds the lines again.
 */
export function dropTokens(table: TableFolder, entries: readonly TokenEntry[]): void {
  const newest = logNumbers(table).at(-1);
  if (entries.length === 0 || newest === undefined) return;
  const lines = entries.map((entry) => lineOf({ ...entry, isAdded: false }));
  appendFileSync(logFile(table, newest), Buffer.from(lines.join(''), 'latin1'), { flush: true });
}

/** Makes the names of the files in a folder durable. */
export function syncFolder(path: string): void {
  const opened = openSync(path, 'r');
  fsyncSync(opened);
  closeSync(opened);
}

function lineOf({ isAdded, part, token }: TokenEntry): string {
  return `${isAdded ? ADDED : DROPPED}\t${part.name}\t${token}\n`;
}

/** Each byte of the text is one character. Returns undefined if the file is missing, or shorter than `begin`. */
function readFrom(file: string, begin: number): string | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    if (size < begin) return undefined;
    const bytes = Buffer.alloc(size - begin);
    return bytes.toString('latin1', 0, readSync(opened, bytes, 0, bytes.length, begin));
  } finally {
    closeSync(opened);
  }
}
