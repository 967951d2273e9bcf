import { DependencyError } from '@weir/domain/errors';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_BY_VERSION,
} from '@weir/domain/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/topics';
import type { StoredRecord } from '@weir/ports/event-log';

/** One line and where it stands. */
export interface Row {
  readonly rawOffset: number;
  /** In the enriched topic. */
  readonly offset: number;
  readonly version: number;
  readonly receivedAt: number;
  readonly line: Uint8Array;
}

/** Rows that follow each other without a gap, of one column list and one table partition: one insert. Never empty. */
export interface Batch {
  readonly rows: readonly Row[];
  /** ClickHouse's error: the batch is one row, and its dead letter goes in its place. */
  readonly dead?: string;
}

/** Reads the headers. Throws `event_log_damaged`: an outcome without its place can't be skipped, nor guessed. */
export function readRow(record: StoredRecord): Row {
  const rawOffset = wholeHeader(record, HEADER_RAW_OFFSET);
  const version = wholeHeader(record, HEADER_COLUMNS_VERSION);
  if (RECORDS_COLUMNS_BY_VERSION[version] === undefined) {
    throw new DependencyError(
      'event_log_damaged',
      `${TOPIC_ENRICHED} offset ${record.offset} has column list ${version}, which this version of Weir does not know: update the writer`,
    );
  }
  const receivedAt = wholeHeader(record, HEADER_RECEIVED_AT);
  return { rawOffset, offset: record.offset, version, receivedAt, line: record.value };
}

function wholeHeader(record: StoredRecord, name: string): number {
  const text = record.headers[name];
  const value = Number(text);
  if (text === undefined || text === '' || !Number.isSafeInteger(value) || value < 0) {
    throw new DependencyError(
      'event_log_damaged',
      `${TOPIC_ENRICHED} offset ${record.offset} has header ${name}=${text ?? '(none)'}, not a whole number`,
    );
  }
  return value;
}

/** `records` is partitioned by the UTC month of received_at; one insert must not touch two of its partitions. */
export function monthOf(receivedAt: number): number {
  const date = new Date(receivedAt);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Both halves, in order. */
export function halve({ rows }: Batch): readonly [Batch, Batch] {
  const middle = Math.ceil(rows.length / 2);
  return [{ rows: rows.slice(0, middle) }, { rows: rows.slice(middle) }];
}
