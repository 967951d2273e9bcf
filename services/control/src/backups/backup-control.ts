/** What the admin API shows of a backup. Times are ISO 8601, sizes in bytes. */
export interface BackupView {
  readonly to: string;
  readonly state: 'running' | 'done' | 'failed';
  /** What is being done; null when it has ended. */
  readonly phase: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly bytes_done: number;
  readonly bytes_total: number;
  /** Bytes that were stored, after compression: what the backups before did not have. */
  readonly bytes_stored: number | null;
  readonly backup_id: string | null;
  readonly error: string | null;
}

export interface BackupRequest {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly to: string;
  /** Older backups are deleted; undefined: none is. */
  readonly keep: number | undefined;
}

/** The backups of the data folder of this process. */
export interface BackupControl {
  /** Starts a backup, and returns how it stands; undefined while another one runs. */
  start(request: BackupRequest): BackupView | undefined;
  /** The backup that runs, otherwise the last one since the start of the process. */
  current(): BackupView | undefined;
  /** `WEIR_BACKUP_TO` and `WEIR_BACKUP_KEEP`. */
  readonly defaults: { readonly to: string | undefined; readonly keep: number | undefined };
}
