import { RECORDS_COLUMNS_BY_VERSION, type RecordsColumn } from '@weir/domain/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/topics';
import type { Row } from './batch.ts';

export interface DeadLineSource {
  readonly logId: string;
  readonly partition: number;
  readonly row: Row;
  readonly error: string;
}

/** What stands in columns that take no text; in all others an empty one. */
const NEUTRAL = { cookieless: false, value: 0, properties: {}, screen_width: 0, screen_height: 0 } as const;

/**
 * The dead letter of a row that ClickHouse refused: a line of the row's own column list with nothing of the row but its site,
 * which any text may be, and the refused line as payload. The same bytes from the same row and error, always: a redo inserts
 * them again. Every column has a value of its own type, none is null: so a table that takes the dead letter takes rows.
 */
export function deadLine({ logId, partition, row, error }: DeadLineSource): Uint8Array {
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
