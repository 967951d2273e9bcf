import type { BackupView } from '@weir/control/backups/backup-control';
import type { Config } from '@weir/runtime/config/config';
import type { BackupMetrics } from '@weir/runtime/metrics/backup-metrics';

/**
 * Decides when a scheduled backup may be tried again after a failure. It waits longer after each failure, because each attempt pauses
 * the writer and copies the log.
 */
export interface BackupSchedule {
  /** Call one of these two methods when a backup to the place `to` has ended. The schedule ignores a backup to another place than its own. */
  succeeded(to: string, at: number): void;
  failed(to: string, at: number): void;
  /** Call it with the time of the newest backup in the place of the schedule, in Unix milliseconds. Minus infinity if there is no backup. */
  found(newest: number): void;
  /** Whether the last attempt failed and it is too early for the next one. */
  waits(now: number): boolean;
  view(): Pick<BackupView, 'failed_attempts' | 'next_attempt_at'>;
}

const FIRST_PAUSE_MS = 60_000;
const PAUSE_MAX_MS = 3_600_000;

export function createBackupSchedule({ to: place }: Config['backup'], metrics: BackupMetrics): BackupSchedule {
  let failures = 0;
  let nextAttemptAt: number | undefined;
  metrics.failedAttempts(0);
  return {
    succeeded(to, at) {
      if (to !== place) return;
      failures = 0;
      nextAttemptAt = undefined;
      metrics.failedAttempts(0);
      metrics.newest(at);
    },
    failed(to, at) {
      if (to !== place) return;
      nextAttemptAt = at + Math.min(FIRST_PAUSE_MS * 2 ** failures, PAUSE_MAX_MS);
      failures++;
      metrics.failedAttempts(failures);
    },
    found(newest) {
      if (Number.isFinite(newest)) metrics.newest(newest);
    },
    // If the time of the next attempt is more than the longest pause away, the clock was set back after the failure.
    waits: (now) => nextAttemptAt !== undefined && now < nextAttemptAt && nextAttemptAt - now <= PAUSE_MAX_MS,
    view: () => ({
      failed_attempts: failures,
      next_attempt_at: nextAttemptAt === undefined ? null : new Date(nextAttemptAt).toISOString(),
    }),
  };
}
