import type { Analytics } from '@weir/ports/analytics';
import type { PartitionPosition } from '@weir/ports/event-log';
import { formatTime } from '../format-time.ts';
import { type Checkpoint, readCheckpointsBefore } from './audit-checkpoints.ts';
import { type AuditReport, auditReport, type PartitionAudit, type RedrivenBooks } from './audit-report.ts';
import { readBooks, readRedriven, type StoredBooks } from './read-books.ts';
import { countPartitions, type PartitionRows, rowsAbove } from './rows-above.ts';

/** How many rows of the present log the tables have. */
export interface BooksSince {
  readonly checkpoints: readonly Checkpoint[];
  /** All rows of each partition. */
  readonly counted: readonly PartitionRows[];
  /** The rows from the checkpoints on. */
  readonly above: StoredBooks;
  readonly redriven: RedrivenBooks;
}

/**
 * Counts the rows from the checkpoint of each partition on, and all rows of each partition. The checkpoint is the last one that was
 * stored at `sinceMs` (Unix milliseconds) or earlier. Without such a checkpoint, the rows are counted from the raw offset 0 on.
 */
export async function readBooksSince(
  read: Pick<Analytics, 'select'>,
  logId: string,
  sinceMs: number,
): Promise<BooksSince> {
  const checkpoints = await readCheckpointsBefore(read, logId, sinceMs);
  const counted = await countPartitions(read, logId);
  const from = (partition: number): number => offsetOf(checkpoints, partition);
  const redriven = await readRedriven(read, rowsAbove(logId, counted, from, 'by_offset'));
  const above = await readBooks(read, 'records', rowsAbove(logId, counted, from));
  return { checkpoints, counted, above, redriven };
}

/**
 * The report about the raw offsets (docs/glossary.md) from the checkpoints on. It is balanced if these raw offsets meet the conditions of
 * `auditReport`, and if the number of rows below each checkpoint equals the number of raw offsets below it. While an erasure or an expiry deletes
 * rows, more rows than raw offsets below a checkpoint are no fault. `positions` must be read after the counts.
 */
export function auditReportSince(
  logId: string,
  positions: readonly Pick<PartitionPosition, 'partition' | 'end'>[],
  { checkpoints, counted, above, redriven }: BooksSince,
  isErasing: boolean,
): AuditReport {
  const from = (partition: number): number => offsetOf(checkpoints, partition);
  // `auditReport` expects raw offsets from 0 on, so the checkpoint is subtracted from each offset.
  const report = auditReport(
    logId,
    positions.map(({ partition, end }) => ({ partition, end: end - from(partition) })),
    above.stored.map((row) => ({ ...row, highest: row.highest - from(row.raw_partition) })),
    above.counts,
    isErasing,
    redriven,
  );
  const partitions = report.partitions.map((partition): PartitionAudit => {
    const { partition: number, outcomes, missing, repeated, balanced } = partition;
    const all = counted.find((row) => row.partition === number)?.records ?? 0;
    const surplus = all - outcomes - from(number);
    // While an erasure or an expiry deletes rows, a raw offset can be stored twice.
    const more = isErasing ? 0 : Math.max(0, surplus);
    return {
      ...partition,
      compared_from: from(number),
      checkpoint_at: timeOf(checkpoints, number),
      missing: missing + Math.max(0, -surplus),
      repeated: repeated + more,
      balanced: balanced && surplus >= 0 && more === 0,
    };
  });
  return { ...report, balanced: report.balanced && partitions.every(({ balanced }) => balanced), partitions };
}

function offsetOf(checkpoints: readonly Checkpoint[], partition: number): number {
  return checkpoints.find((one) => one.partition === partition)?.offset ?? 0;
}

function timeOf(checkpoints: readonly Checkpoint[], partition: number): string | null {
  const found = checkpoints.find((one) => one.partition === partition);
  return found === undefined ? null : formatTime(found.checkedAt);
}
