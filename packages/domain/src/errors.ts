/**
 * The codes of all failures outside Weir's own code. Adapters translate the errors of their libraries to one of these codes; code
 * outside the adapters never sees an error of a library.
 */
export type DependencyErrorCode =
  /** The event log cannot be read or written now. A change that failed with this code may still become durable later. */
  | 'event_log_unavailable'
  /** The event log answers but refuses this process: a wrong password, an unknown certificate, a missing ACL. */
  | 'event_log_refused'
  /** The event log violates a rule that Weir needs: it has a gap, a partition is missing, or a topic has wrong settings. */
  | 'event_log_damaged'
  /** The partition was revoked from this consumer: stop working on it, and do not commit. */
  | 'partition_lost'
  | 'state_store_unavailable'
  /** ClickHouse cannot be reached, is overloaded, timed out, or has no free disk space. The same insert with the same token can be repeated. */
  | 'analytics_unavailable'
  /** ClickHouse refused the statement or the rows. A repeat gives the same result. */
  | 'analytics_refused'
  /** Rows are missing in ClickHouse although it confirmed them. */
  | 'analytics_damaged'
  /** The tables were exchanged for another generation (docs/glossary.md), or are being exchanged. Nothing was stored: read the generation again. */
  | 'generation_changed'
  /** The folder or bucket cannot be reached, is full or is overloaded. */
  | 'object_store_unavailable'
  /** The folder or bucket refuses this process: credentials, permissions, or a bucket that does not exist. */
  | 'object_store_refused'
  /** An object that must exist in the object store is missing or damaged. */
  | 'object_store_damaged'
  /** Another Weir has locked the data folder. */
  | 'data_folder_in_use'
  /** The data folder cannot be created, written or locked. */
  | 'data_folder_unusable'
  /** A newer version of Weir has used the data folder, and has written files that this version cannot read. */
  | 'data_folder_too_new';

/** A known failure of a dependency. `code` is for programs, `message` for people, and `cause` is the error of the library. */
export class DependencyError extends Error {
  override readonly name = 'DependencyError';
  readonly code: DependencyErrorCode;
  /** The disk of the dependency is full: an operator must free space. */
  readonly isFull: boolean;

  constructor(code: DependencyErrorCode, message: string, options?: ErrorOptions & { readonly isFull?: boolean }) {
    super(message, options);
    this.code = code;
    this.isFull = options?.isFull ?? false;
  }
}

export function isDependencyError(error: unknown, code?: DependencyErrorCode): error is DependencyError {
  return error instanceof DependencyError && (code === undefined || error.code === code);
}

/** The message of a thrown value. Libraries can throw values that are not errors. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
