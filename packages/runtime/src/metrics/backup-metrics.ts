import { gaugeOf, type Metrics } from '../prometheus-metrics.ts';

export interface BackupMetrics {
  /** Sets the number of attempts that have failed since the last successful one. */
  failedAttempts(count: number): void;
  /** Sets the time of the newest backup, in Unix milliseconds. */
  newest(at: number): void;
}

export function createBackupMetrics(registry: Metrics): BackupMetrics {
  const failed = gaugeOf(
    registry,
    'weir_backup_failed_attempts',
    'Failed attempts at a scheduled backup since the last successful one.',
  );
  return {
    failedAttempts: (count) => failed.set(count),
    newest(at) {
      const help = 'When the newest backup of the schedule was made (Unix time).';
      // The metric does not exist before the first backup, because its value 0 would mean a backup of 1970.
      gaugeOf(registry, 'weir_backup_newest_timestamp_seconds', help).set(at / 1000);
    },
  };
}
