import { ClickHouseError } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';

/**
 * What an insert's rows themselves can be at fault for: parse, type and range errors. Everything else (a wrong password, a
 * missing table, too many parts) is not the rows' fault, and must never turn rows into dead letters.
 */
const ROWS_AT_FAULT = new Set([
  6, 20, 25, 26, 27, 28, 32, 33, 34, 38, 41, 43, 53, 69, 70, 72, 85, 117, 128, 129, 130, 131, 137, 184, 190, 305, 306,
  321, 349, 353, 368, 376, 386, 407, 441, 442, 444, 467, 636, 675, 676, 708, 1001,
]);

/** ClickHouse is busy, full, on its way down or cut off: the same statement may succeed later. */
const STORE_AT_FAULT = new Set([
  3, 74, 75, 76, 159, 160, 164, 194, 198, 202, 203, 209, 210, 225, 236, 241, 242, 243, 252, 279, 285, 286, 290, 319,
  335, 394, 425, 439, 473, 497, 499, 516, 517, 518, 519, 571, 574, 668, 722, 999,
]);

/** Of a user's query, what the query itself is not at fault for: no connection, too many at once, shutting down. */
const BUSY = new Set([202, 209, 210, 225, 236, 242, 279, 394, 439, 999]);

/**
 * Of an insert: refused only where the rows are at fault. ClickHouse quotes the row in its message, and rows hold e-mails: only
 * what names no data is taken over, and the cause is left out, because loggers print it.
 */
export function insertError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  if (!(error instanceof ClickHouseError) || code === undefined) return translated('analytics_unavailable', error);
  const column = /reading the value of key (\w+)/.exec(error.message)?.[1];
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  const place = `${column === undefined ? '' : `, column ${column}`}${row === undefined ? '' : `, row ${row}`}`;
  const kind = ROWS_AT_FAULT.has(code) ? 'analytics_refused' : 'analytics_unavailable';
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
