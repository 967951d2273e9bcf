/** A backup as the admin API shows it. Times are in ISO 8601, and sizes in bytes. */
export interface BackupView {
  readonly to: string;
  readonly state: 'running' | 'done' | 'failed';
  /** `tables`, `log` or `upload`; null when the backup has ended. */
  readonly phase: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly bytes_done: number;
  readonly bytes_total: number;
  /** Compressed bytes that this backup added to the target. Earlier backups already stored the rest. */
  readonly bytes_stored: number | null;
  readonly backup_id: string | null;
  readonly error: string | null;
  /** How many backups to `WEIR_BACKUP_TO`, the target of the schedule, have failed since the last successful one. Requested backups count too. */
  readonly failed_attempts: number;
  /** After a failed backup to this target, no scheduled backup starts before this time. Null if the last backup to this target did not fail. */
  readonly next_attempt_at: string | null;
}

export interface BackupRequest {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly to: string;
  /** How many backups are kept; older ones are deleted. If undefined, no backup is deleted. */
  readonly keep: number | undefined;
}

/** The backups of the data folder of this process. */
export interface BackupControl {
  /**
   * Starts a backup and returns its first view. Returns undefined, and starts nothing, if another backup runs or the process is closing.
   */
  start(request: BackupRequest): BackupView | undefined;
  /** Returns the running backup, or else the last backup that this process has begun, even if it failed. Undefined if it has begun none. */
  current(): BackupView | undefined;
  /** The settings `WEIR_BACKUP_TO` and `WEIR_BACKUP_KEEP`, for requests without a target or a number. `keep` applies only to the target `to`. */
  readonly defaults: { readonly to: string | undefined; readonly keep: number | undefined };
}
