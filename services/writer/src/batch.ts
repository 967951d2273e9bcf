import { DependencyError } from '@weir/domain/errors';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_BY_VERSION,
} from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { StoredRecord } from '@weir/ports/event-log';

/** A row of `events.enriched`: the outcome of one raw record. */
export interface Row {
  readonly rawOffset: number;
  /** The offset of the row in the enriched topic. */
  readonly offset: number;
  readonly version: number;
  readonly receivedAt: number;
  /**
   * The line that is inserted. Only in a replay (replayed-rows.ts), it can be empty: the row is then not inserted, but still counts in the range of
   * its batch.
   */
  readonly line: Uint8Array;
}

/**
 * The rows of one insert, at least one. They have consecutive raw offsets (offsets in `events.raw`) and the same column list, and belong to one
 * partition of the table.
 */
export interface Batch {
  readonly rows: readonly Row[];
  /** ClickHouse's error message. If it is set, the batch is a single refused row, and its dead letter is inserted instead. */
  readonly dead?: string;
}

/**
 * Reads a row and its headers. Throws `event_log_damaged` if a header is missing or invalid: the writer must not skip the row, and it
 * cannot guess the header.
 */
export function readRow(record: StoredRecord): Row {
  const rawOffset = wholeHeader(record, HEADER_RAW_OFFSET);
  const version = wholeHeader(record, HEADER_COLUMNS_VERSION);
  if (RECORDS_COLUMNS_BY_VERSION[version] === undefined) {
    throw new DependencyError(
      'event_log_damaged',
      `${TOPIC_ENRICHED} offset ${record.offset} has column list ${version}, which is unknown to this version of Weir: update the writer`,
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

/** A range of times: from `from` on, before `to`. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The UTC month of `receivedAt`. The table `records` is partitioned by this month, and one insert must stay within one table partition.
 */
export function monthOf(receivedAt: number): TimeRange {
  const date = new Date(receivedAt);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}

export function halve({ rows }: Batch): readonly [Batch, Batch] {
  const middle = Math.ceil(rows.length / 2);
  return [{ rows: rows.slice(0, middle) }, { rows: rows.slice(middle) }];
}
