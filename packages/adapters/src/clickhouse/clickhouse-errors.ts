import { ClickHouseError } from '@clickhouse/client';
import { DependencyError, messageOf } from '@weir/domain/errors';
import { FENCE_IN_MESSAGE } from './generation-fence.ts';

/**
 * Error codes after which the same statement may succeed later. For example, ClickHouse is busy, full, shutting down or unreachable, or
 * refuses Weir's password or permissions.
 */
const STORE_AT_FAULT = new Set([
  3, 74, 75, 76, 159, 160, 164, 194, 198, 202, 203, 209, 210, 225, 236, 241, 242, 243, 252, 279, 285, 286, 290, 319,
  335, 394, 425, 439, 473, 497, 499, 516, 517, 518, 519, 571, 574, 668, 677, 722, 735, 745, 999,
]);

/**
 * Error codes of an insert that only the rows can cause: a value cannot be parsed or does not fit its column. These errors depend only on the
 * bytes of a row, the columns and the settings, so each retry fails in the same way. The list does not contain errors that can have another
 * cause: the server, a table that is being altered, or a truncated body (3, 32, 33).
 */
const ABOUT_A_ROW = new Set([
  // Text that cannot be parsed.
  6, 25, 26, 27, 38, 41, 72, 117, 130, 376, 441, 467, 563, 632, 675, 676, 691, 760,
  // Values that do not fit.
  53, 69, 70, 128, 131, 306, 321, 349, 407, 469, 645,
]);

/**
 * The default profile of a server also applies to Weir's user. If that profile has a limit whose mode is `break` or `any`, ClickHouse processes only a
 * part of the rows and reports success. With these settings, each limit ends a statement with an error.
 */
export const WHOLE_OR_ERROR = {
  timeout_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  result_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  // With 1, an aggregation of no rows would have no row, and `wholeNumberIn` would throw.
  empty_result_for_aggregation_by_empty_set: 0,
} as const;

/** The same for inserts. Without the other settings, such a profile could let ClickHouse skip rows that it refuses, or the errors of views. */
export const EACH_ROW_OR_ERROR = {
  ...WHOLE_OR_ERROR,
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
  materialized_views_ignore_errors: 0,
} as const;

/** Error codes of a query in which a value has a wrong type, or cannot be converted to another type. */
const ABOUT_TYPES = new Set([6, 38, 41, 43, 53, 70, 72, 386, 467]);

/** ClickHouse's error for an unknown column. It occurs if an insert was planned for another generation of the tables (generation-fence.ts). */
const NO_SUCH_COLUMN = 16;
const NOT_ENOUGH_SPACE = 243;
const NO_PERMISSION = 497;
/** The operating system's text for a full disk. ClickHouse quotes this text in its errors 75, 76 and 1001. */
const NO_SPACE_LEFT = /errno: 28\b|No space left on device/;

/** Matches the text of error 241 if all queries of the user or of the server together need too much memory, and not one query alone. */
const MEMORY_OF_ALL = /(?:user\)?|\(total\)) memory limit exceeded/i;

const QUOTA_EXCEEDED = 201;
const TOO_SLOW = 160;
/**
 * The error codes for an unknown table, an unknown database and a missing permission. If Weir wrote the statement, the tables are not migrated yet,
 * or the permissions of the reading user are out of date. If a user wrote the statement, the statement itself is wrong.
 */
const TABLES_NOT_READY = new Set([60, 81, NO_PERMISSION]);

/**
 * Translates the error of an insert. The result is `analytics_refused` only if the rows certainly caused the error: the writer then divides the
 * batch, or replaces a row by a dead letter (docs/decisions/0006). If a code is missing in ABOUT_A_ROW, the partition stops with an alarm that
 * contains the code. A wrong code in ABOUT_A_ROW would turn good rows into dead letters, or store them twice.
 * ClickHouse quotes the row in its message, and rows contain e-mail addresses. So the message of the result contains only the code and the name of
 * ClickHouse's error, the column and the row number. The result has no `cause`, because loggers print the cause.
 */
export function insertError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  if (!(error instanceof ClickHouseError) || code === undefined) return translated('analytics_unavailable', error);
  const column = /reading the value of key (\w+)/.exec(error.message)?.[1];
  const row = /\(at row (\d+)\)/.exec(error.message)?.[1];
  const place = `${column === undefined ? '' : `, column ${column}`}${row === undefined ? '' : `, row ${row}`}`;
  if (code === NOT_ENOUGH_SPACE || NO_SPACE_LEFT.test(error.message)) {
    const message = `the disk of ClickHouse is full (error ${code} ${error.type ?? ''}). Free some space; writing then resumes automatically`;
    return new DependencyError('analytics_unavailable', message, { isFull: true });
  }
  if (code === NO_SUCH_COLUMN && FENCE_IN_MESSAGE.test(error.message)) {
    return new DependencyError('generation_changed', 'the tables were exchanged: the insert was planned for others');
  }
  const kind = ABOUT_A_ROW.has(code) ? 'analytics_refused' : 'analytics_unavailable';
  return new DependencyError(kind, `ClickHouse error ${code} ${error.type ?? ''}${place}`);
}

/** Translates the error of a statement that Weir wrote, for example of a migration or an export. For reports, see `userQueryError`. */
export function statementError(error: unknown): DependencyError {
  const code = clickhouseCode(error);
  return translated(
    code === undefined || STORE_AT_FAULT.has(code) ? 'analytics_unavailable' : 'analytics_refused',
    error,
  );
}

/**
 * Translates the error of a user's query or of a report. The result is `analytics_refused` if the query is the cause, for example invalid SQL,
 * an exceeded limit or a missing permission. The result is `analytics_unavailable` if ClickHouse did not answer, a quota is used up, or
 * ClickHouse is the cause (most codes of `STORE_AT_FAULT`). `isReport`: Weir wrote the query. Then an unknown table or a missing permission
 * gives `analytics_unavailable` (see `TABLES_NOT_READY`).
 */
export function userQueryError(error: unknown, isReport: boolean): DependencyError {
  const code = clickhouseCode(error);
  if (code === 159) return translated('analytics_refused', error, 'the query took longer than is allowed');
  if (code === 241 && MEMORY_OF_ALL.test((error as Error).message)) return translated('analytics_unavailable', error);
  if (code === 241) return translated('analytics_refused', error, 'the query needs more memory than is allowed');
  if (code === 396) return translated('analytics_refused', error, 'the result is larger than is allowed');
  if (code === undefined || (isReport && TABLES_NOT_READY.has(code))) return translated('analytics_unavailable', error);
  if (code === 164 || code === NO_PERMISSION) return translated('analytics_refused', error, 'only reading is allowed');
  const isFault = code === QUOTA_EXCEEDED || (STORE_AT_FAULT.has(code) && code !== TOO_SLOW);
  return translated(isFault ? 'analytics_unavailable' : 'analytics_refused', error);
}

/** Whether a query failed because of the type of a value, for example in a comparison of a number with a text. */
export function isTypeError(error: unknown): boolean {
  return ABOUT_TYPES.has(clickhouseCode(error) ?? 0);
}

/** Whether Weir's user lacks a permission for a statement. `error` is a result of `statementError`. */
export function isPermissionError(error: unknown): boolean {
  return error instanceof DependencyError && clickhouseCode(error.cause) === NO_PERMISSION;
}

/**
 * The whole number in an answer that always has one row. Throws `analytics_unavailable` if the answer lacks it, for example because a proxy sent an
 * empty answer. Such an answer does not mean that the table is empty: the writer would insert all of its rows again.
 */
export function wholeNumberIn(value: string | number | undefined): number {
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new DependencyError(
    'analytics_unavailable',
    'an answer of ClickHouse is incomplete: it lacks a row or a number',
  );
}

function clickhouseCode(error: unknown): number | undefined {
  return error instanceof ClickHouseError ? Number(error.code) : undefined;
}

function translated(code: DependencyError['code'], cause: unknown, prefix?: string): DependencyError {
  const text = messageOf(cause);
  return new DependencyError(code, prefix === undefined ? text : `${prefix}: ${text}`, { cause });
}
