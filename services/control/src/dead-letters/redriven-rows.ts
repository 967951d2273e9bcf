import { deadRowLine } from '@weir/domain/records/dead-row';
import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import type { ReplayedRow } from '../replay/replay-scope.ts';
import { redrivenAttempt } from './letter-filter.ts';

/**
 * The dead letters that were redriven. The content of such a letter is in the log twice: in the record that failed, and in the redriven record. The
 * code of a replay may be able to process the failed record, and would then store the content twice. So a replay gives the failed record its former
 * outcome `dead`. Weir redrives no dead letters while there is a replay, and a replay begins only when the tables show all letters that were
 * redriven before. If a process does not know of the replay yet, it can nevertheless append a redriven record. Before the swap, `countStoredTwice`
 * finds records that were stored twice because of this.
 */
export interface RedrivenRows {
  /**
   * Returns the row that a replay stores for a record. If the record became a dead letter that was redriven, this is the row that the live tables
   * have for it. Otherwise it is `row`.
   */
  row(logId: string, partition: number, row: ReplayedRow): ReplayedRow;
  /** True if the enricher of a replay must skip this record, because the live enricher failed on it and it was redriven. */
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
    row(logId, partition, row) {
      if (byPlace.size === 0) return row;
      const dead = byPlace.get(keyOf(logId, partition, row.rawOffset));
      return dead === undefined ? row : { ...row, receivedAt: Number(dead.received), line: lineOf(dead, row.version) };
    },
    isHidden: (logId, partition, rawOffset) =>
      byPlace.size > 0 && byPlace.get(keyOf(logId, partition, rawOffset))?.stage === 'enricher',
  };
}

/**
 * Counts the redriven dead letters whose failed record the shadow tables (docs/glossary.md) have stored as a row. Call it before a swap, when both
 * sets of tables have the same records.
 */
export async function countStoredTwice({
  analytics,
  live,
  shadow,
}: Pick<ShadowTables, 'analytics' | 'live' | 'shadow'>): Promise<number> {
  const places = redrivenPlaces(live);
  // This query reads all rows, because positions in the log are not in the primary key. If no letter was redriven, its first condition prevents
  // this.
  const [row] = await analytics.select<{ n: number | string }>(
    `SELECT count() AS n FROM ${shadow}.records
     WHERE (SELECT count() FROM (${places})) > 0 AND outcome IN ('row', 'identify') AND (log_id, raw_partition, raw_offset) IN (${places})`,
  );
  return Number(row?.n);
}

function redrivenPlaces(live: string): string {
  return `SELECT log_id, raw_partition, by_offset FROM ${live}.dead_letter_attempts
    WHERE ${redrivenAttempt(`${live}.dead_letters`)}`;
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
