import { deadRowLine } from '@weir/domain/records/dead-row';
import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import type { ReplayedRow } from '../replay/replay-scope.ts';

/**
 * The records of dead letters that were redriven. Their content is in the log a second time, in the redriven records. If a replay stored
 * them, because the reason of the failure is gone, their content would be stored twice. A replay therefore gives them their former outcome.
 * No dead letter is redriven while there is a replay, and a replay begins when the tables show all that were redriven before. A record that another
 * process nevertheless appended at that moment is found by `countStoredTwice`.
 */
export interface RedrivenRows {
  /** The line of the dead letter for this row, or the line of the row itself if it was not redriven. */
  line(logId: string, partition: number, row: ReplayedRow): Uint8Array;
  /** Whether the enricher of a replay must not process this record: the live enricher could not process it either. */
  isHidden(logId: string, partition: number, rawOffset: number): boolean;
}

interface DeadRow {
  readonly log_id: string;
  readonly raw_partition: number | string;
  readonly raw_offset: number | string;
  readonly site_id: string;
  readonly event_id: string;
  readonly reason: string;
  readonly received: number | string;
  readonly value: number | null;
  readonly enrichment: string;
  readonly detail: string;
  readonly stage: string;
}

/** Reads the dead letters of the live tables that were redriven. */
export async function readRedrivenRows({
  analytics,
  live,
}: Pick<ShadowTables, 'analytics' | 'live'>): Promise<RedrivenRows> {
  const rows = await analytics.select<DeadRow>(
    `SELECT log_id, raw_partition, raw_offset, site_id, event_id, reason, toUnixTimestamp64Milli(received_at) AS received, value,
       enrichment, detail, JSONExtractString(detail, 'stage') AS stage
     FROM ${live}.records
     WHERE outcome = 'dead' AND (log_id, raw_partition, raw_offset) IN (${redrivenPlaces(live)})`,
  );
  const keyOf = (logId: string, partition: number, offset: number): string => `${logId} ${partition} ${offset}`;
  const byPlace = new Map(
    rows.map((row) => [keyOf(row.log_id, Number(row.raw_partition), Number(row.raw_offset)), row]),
  );
  return {
    line(logId, partition, { rawOffset, version, line }) {
      if (byPlace.size === 0) return line;
      const row = byPlace.get(keyOf(logId, partition, rawOffset));
      return row === undefined ? line : lineOf(row, version);
    },
    isHidden: (logId, partition, rawOffset) =>
      byPlace.size > 0 && byPlace.get(keyOf(logId, partition, rawOffset))?.stage === 'enricher',
  };
}

/**
 * Counts the dead letters that were redriven, but that the shadow tables have stored as rows. Call it when both sets of tables have the same records,
 * before a swap.
 */
export async function countStoredTwice({
  analytics,
  live,
  shadow,
}: Pick<ShadowTables, 'analytics' | 'live' | 'shadow'>): Promise<number> {
  const places = redrivenPlaces(live);
  // The place of a row is not in the primary key. The first condition prevents that all rows are read although no letter was redriven.
  const [row] = await analytics.select<{ n: number | string }>(
    `SELECT count() AS n FROM ${shadow}.records
     WHERE (SELECT count() FROM (${places})) > 0 AND outcome IN ('row', 'identify') AND (log_id, raw_partition, raw_offset) IN (${places})`,
  );
  return Number(row?.n);
}

function redrivenPlaces(live: string): string {
  return `SELECT log_id, raw_partition, by_offset FROM ${live}.dead_letter_attempts
    WHERE outcome = 'dead' AND (log_id, raw_partition, by_offset) NOT IN (
      SELECT log_id, raw_partition, failed_offset FROM ${live}.dead_letters WHERE redriven_at IS NULL)`;
}

function lineOf(row: DeadRow, version: number): Uint8Array {
  const { log_id, site_id, event_id, reason, value, enrichment, detail } = row;
  const at = Number(row.received);
  return deadRowLine(RECORDS_COLUMNS_BY_VERSION[version] ?? [], {
    ...{ log_id, site_id, event_id, reason, value, enrichment, detail, received_at: at, timestamp: at },
    raw_partition: Number(row.raw_partition),
    raw_offset: Number(row.raw_offset),
  });
}
