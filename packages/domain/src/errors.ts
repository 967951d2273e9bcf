/**
 * The catalogue of everything that can break outside Weir's own code. Adapters translate their library's errors to one of
 * these at their border; no one above an adapter sees a library's error.
 */
export type DependencyErrorCode =
  /** The event log can't be read or written now. What was being appended is known not to be in it. */
  | 'event_log_unavailable'
  /** The event log is there and won't have this process: a wrong password, an unknown certificate, a rule that is missing. */
  | 'event_log_refused'
  /** The event log holds something that Weir's own rules exclude: a gap, a lost partition, wrong topic settings. */
  | 'event_log_damaged'
  /** The consumer lost its partition to another one: stop work on it, commit nothing. */
  | 'partition_lost'
  | 'state_store_unavailable'
  /** ClickHouse can't be reached, is overloaded or timed out: the same insert with the same token can be repeated. */
  | 'analytics_unavailable'
  /** ClickHouse read the statement or the rows and refused them: repeating changes nothing. */
  | 'analytics_refused'
  /** ClickHouse lacks rows that it says it has. */
  | 'analytics_damaged'
  /** Another process group holds the data folder. */
  | 'data_folder_in_use'
  /** The data folder can't be made, written or locked. */
  | 'data_folder_unusable';

/** A dependency that failed in a known way. `code` is for programs, `message` for people, `cause` is the library's error. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError';
  readonly code: DependencyErrorCode;

  constructor(code: DependencyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function isDependencyError(error: unknown, code?: DependencyErrorCode): error is DependencyError {
  return error instanceof DependencyError && (code === undefined || error.code === code);
}
