import { textOf } from '@weir/domain/ingest/context';
import { parseJson } from '@weir/domain/json/json';
import { deadRowLine } from '@weir/domain/records/dead-row';
import { RECORDS_COLUMNS_BY_VERSION, type RecordsColumn } from '@weir/domain/records/records-columns';
import { redrivenOfDetail, withRedriven } from '@weir/domain/records/redriven';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { Row } from './batch.ts';

export interface RefusedRow {
  readonly logId: string;
  readonly partition: number;
  readonly row: Row;
  readonly error: string;
}

/**
 * Builds the dead letter of a row that ClickHouse refused, with the column list of that row. The dead letter keeps the position, the time of receipt
 * and the site of the row, and has the refused row as its payload. The same row and error always give the same bytes, because a repeat of the
 * insert must have the same bytes. Each column has a valid value of its type. A table that refuses this dead letter would therefore refuse every row.
 */
export function refusedRowLetter({ logId, partition, row, error }: RefusedRow): Uint8Array {
  const columns = RECORDS_COLUMNS_BY_VERSION[row.version] ?? [];
  const payload = Buffer.from(row.line).toString();
  // The refused line is perhaps not valid JSON. The dead letter then has no site and no detail.
  const values = (parseJson(payload) ?? []) as readonly unknown[];
  const textIn = (column: RecordsColumn): string => textOf(values[columns.indexOf(column)]);
  const letter = { topic: TOPIC_ENRICHED, partition, offset: row.offset, stage: 'writer', error, payload };
  return deadRowLine(columns, {
    reason: 'row_refused',
    site_id: textIn('site_id'),
    received_at: row.receivedAt,
    timestamp: row.receivedAt,
    log_id: logId,
    raw_partition: partition,
    raw_offset: row.rawOffset,
    detail: withRedriven(JSON.stringify(letter), redrivenOfDetail(textIn('detail'))),
  });
}
