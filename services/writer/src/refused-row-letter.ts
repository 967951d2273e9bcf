import { RECORDS_COLUMNS_BY_VERSION, type RecordsColumn } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { Row } from './batch.ts';

export interface RefusedRow {
  readonly logId: string;
  readonly partition: number;
  readonly row: Row;
  readonly error: string;
}

/** The values of the columns that cannot have an empty text. Columns that have no value of their own get an empty text. */
const NEUTRAL = {
  cookieless: false,
  value: 0,
  properties: {},
  screen_width: 0,
  screen_height: 0,
  visit_stamp: 0,
  visit_started: 0,
  visit_new: 0,
  visit_bounces: 0,
  visit_seconds: 0,
} as const;

/**
 * Builds the dead letter of a row that ClickHouse refused, with the column list of that row. The dead letter keeps the position, the
 * time of receipt and the site of the row, and has the refused row as its payload. The same row and error always give the same bytes,
 * because a repeated plan must insert the same bytes. Each column has a valid value of its type: a table that refuses this dead letter
 * therefore refuses every row.
 */
export function refusedRowLetter({ logId, partition, row, error }: RefusedRow): Uint8Array {
  const columns = RECORDS_COLUMNS_BY_VERSION[row.version] ?? [];
  const payload = Buffer.from(row.line).toString();
  const given: Partial<Record<RecordsColumn, unknown>> = {
    outcome: 'dead',
    reason: 'row_refused',
    site_id: siteOf(payload, columns),
    received_at: row.receivedAt,
    timestamp: row.receivedAt,
    log_id: logId,
    raw_partition: partition,
    raw_offset: row.rawOffset,
    ...NEUTRAL,
    detail: JSON.stringify({ topic: TOPIC_ENRICHED, partition, offset: row.offset, stage: 'writer', error, payload }),
  };
  return Buffer.from(`${JSON.stringify(columns.map((column) => given[column as RecordsColumn] ?? ''))}\n`);
}

function siteOf(line: string, columns: readonly string[]): string {
  try {
    const site = (JSON.parse(line) as unknown[])[columns.indexOf('site_id')];
    return typeof site === 'string' ? site : '';
  } catch {
    return '';
  }
}
