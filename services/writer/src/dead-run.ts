import type { AssignedPartition } from '@weir/runtime/consume/run-consumer';
import type { Logger } from '@weir/runtime/logger';
import type { Batch, Row } from './batch.ts';

/**
 * If ClickHouse refuses this many rows in sequence, an alarm is raised. The partition continues, because the table accepts the dead letter of each
 * row (docs/decisions/0006). If the table also refuses a dead letter, the partition stops.
 */
const DEAD_RUN_ALARM_ROWS = 20;
const ALARM = `${DEAD_RUN_ALARM_ROWS} or more rows in sequence were refused and stored as dead letters: see the table dead_letters`;

/**
 * Returns a function to call after each stored piece (a part of a batch that is inserted on its own). The function counts the refused rows in
 * sequence. If there are enough of them, it raises the alarm and returns true.
 */
export function createDeadRun({
  handle,
  progress,
  metrics,
  logger,
}: AssignedPartition & { readonly logger: Logger }): (stored: Batch) => boolean {
  const { partition } = handle;
  let deadRun = 0;
  return ({ rows, dead }) => {
    if (dead === undefined) deadRun = 0;
    else {
      deadRun++;
      metrics.dead(partition);
      const { rawOffset } = rows[0] as Row;
      logger.error({ partition, rawOffset }, 'ClickHouse refused a row: stored as a dead letter');
    }
    if (deadRun < DEAD_RUN_ALARM_ROWS) return false;
    if (progress.raise(ALARM)) metrics.alarm(partition);
    return true;
  };
}
