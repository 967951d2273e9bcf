import { ClickHouseError } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';

/** ClickHouse is busy, full, on its way down or cut off: the same statement may succeed later. */
const STORE_AT_FAULT = new Set([
  3, 74, 75, 76, 159, 160, 164, 194, 198, 202, 203, 209, 210, 225, 236, 241, 242, 243, 252, 279, 285, 286, 290, 319,
  335, 394, 425, 439, 473, 497, 499, 516, 517, 518, 519, 571, 574, 668, 677, 722, 735, 745, 999,
]);

/** Of an insert besides: the files below the table, the server's own connections, who may write, and what the table is. */
const NOT_THE_ROWS = new Set([
  // Files, sockets, processes, memory.
  23, 24, 40, 77, 83, 86, 87, 88, 95, 96, 97, 98, 99, 100, 101, 102, 103, 107, 172, 173, 204, 214, 239, 240, 246, 271,
  272, 273, 274, 275, 280, 294, 298, 299, 301, 303, 362, 363, 400, 410, 411, 454, 458, 463, 481, 500, 504, 531, 568,
  573, 586, 641, 693, 696, 707, 737, 749, 762, 764, 776, 777, 778, 904, 1000, 1002,
  // Users, quotas, sessions.
  180, 192, 193, 195, 199, 201, 216, 217, 291, 364, 372, 373, 392, 452, 471, 472, 492, 495, 496, 511, 512, 532,
  // Parts, replicas, Keeper.
  218, 224, 226, 227, 228, 230, 231, 232, 234, 235, 244, 251, 254, 255, 265, 289, 296, 297, 308, 337, 341, 342, 369,
  384, 415, 416, 529, 533, 733, 734, 738,
  // The table, its columns and the statement: of no row, also while somebody changes them.
  8, 10, 16, 46, 47, 60, 62, 73, 81, 115, 122, 156, 345, 478, 479,
]);

/** Of a user's query, what the query itself is not at fault for: no connection, too many at once, shutting down. */
const BUSY = new Set([202, 209, 210, 225, 236, 242, 279, 394, 439, 999]);

/**
 * Of an insert: refused unless it is known that the rows are not at fault. What can be wrong with a row has no end (each version
 * has new codes of its own), and a code that is missing there would stop the partition at that row for ever. A code that is
 * missing here costs little: a row becomes a dead letter only after it was refused alone, and where the table takes a whole
 * line in its place (services/writer). ClickHouse quotes the row in its message, and rows hold e-mails: only
 * what names no data is taken over, and the cause is left out, because loggers print it.
 */
export function insertError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  if (!(error instanceof ClickHouseError) || code === undefined) return translated('analytics_unavailable', error);
  const column = /reading the value of key (\w+)/.exec(error.message)?.[1];
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  const place = `${column === undefined ? '' : `, column ${column}`}${row === undefined ? '' : `, row ${row}`}`;
  const kind = STORE_AT_FAULT.has(code) || NOT_THE_ROWS.has(code) ? 'analytics_unavailable' : 'analytics_refused';
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
