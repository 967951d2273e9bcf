import { ClickHouseError } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';

/** ClickHouse is busy, full, on its way down or cut off: the same statement may succeed later. */
const STORE_AT_FAULT = new Set([
  3, 74, 75, 76, 159, 160, 164, 194, 198, 202, 203, 209, 210, 225, 236, 241, 242, 243, 252, 279, 285, 286, 290, 319,
  335, 394, 425, 439, 473, 497, 499, 516, 517, 518, 519, 571, 574, 668, 677, 722, 735, 745, 999,
]);

/**
 * Of an insert: a value can't be read, or does not fit its column. These follow from the bytes of a row, the columns and the
 * settings alone, so each attempt of the same insert ends so. Left out is whatever can also come of the store, of a table
 * that is being changed, or of a body that was cut off on its way (3, 32, 33), whatever row it may have been reading.
 */
const ABOUT_A_ROW = new Set([
  // Texts that can't be read.
  6, 25, 26, 27, 38, 41, 72, 117, 130, 376, 441, 467, 563, 632, 675, 676, 691, 760,
  // Values that don't fit.
  53, 69, 70, 128, 131, 306, 321, 349, 407, 469, 645,
]);

/** Of a user's query, what the query itself is not at fault for: no connection, too many at once, shutting down. */
const BUSY = new Set([202, 209, 210, 225, 236, 242, 279, 394, 439, 999]);

/**
 * Of an insert: refused only where the rows are known to be at fault, because only then may the writer part them, or put a dead
 * letter in the place of one (docs/decisions/0006). A code that is missing in the list stops a partition, with an alarm that names
 * it; one too many would take rows that are sound for bad ones, or store them twice. ClickHouse quotes the row in its message, and
 * rows hold e-mails: only what names no data is taken over, and the cause is left out, because loggers print it.
 */
export function insertError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  if (!(error instanceof ClickHouseError) || code === undefined) return translated('analytics_unavailable', error);
  const column = /reading the value of key (\w+)/.exec(error.message)?.[1];
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  const place = `${column === undefined ? '' : `, column ${column}`}${row === undefined ? '' : `, row ${row}`}`;
  const kind = ABOUT_A_ROW.has(code) ? 'analytics_refused' : 'analytics_unavailable';
  return new DependencyError(kind, `ClickHouse error ${code} ${error.type ?? ''}${place}`);
}

/** Of a statement of Weir's own. */
export function statementError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  return translated(
    code === undefined || STORE_AT_FAULT.has(code) ? 'analytics_unavailable' : 'analytics_refused',
    error,
  );
}

/** Of a user's statement: one that hits a limit, or what only a writer may do, is refused like one that is wrong. */
export function userQueryError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  if (code === 159) return translated('analytics_refused', error, 'the query took longer than is allowed');
  if (code === 241) return translated('analytics_refused', error, 'the query needs more memory than is allowed');
  if (code === 396) return translated('analytics_refused', error, 'the result is larger than is allowed');
  if (code === 164 || code === 497) return translated('analytics_refused', error, 'only reading is allowed');
  const busy = code === undefined || BUSY.has(code);
  return translated(busy ? 'analytics_unavailable' : 'analytics_refused', error);
}

function clickhouseCode(error: unknown): number | undefined {
  return error instanceof ClickHouseError ? Number(error.code) : undefined;
}

function translated(code: DependencyError['code'], cause: unknown, prefix?: string): DependencyError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new DependencyError(code, prefix === undefined ? text : `${prefix}: ${text}`, { cause });
}
