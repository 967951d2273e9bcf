import type { StoredRecord } from '@weir/ports/event-log';
import type { FirstSeenKey } from '@weir/ports/state-store';
import type { ApplyContext, Salts } from './step.ts';

/**
 * Turns one raw record into its one outcome. The methods are called in this order; a batch reads salts after `saltDays`, and state
 * and first-seen keys after `prepare`, for all of its records at once. All methods are synchronous, and pure except for caches.
 * No method throws: a record that cannot be read, and one whose step fails, become dead letters.
 */
export interface Enrichment<Decoded> {
  decode(record: Pick<StoredRecord, 'offset' | 'value' | 'appendedAt'>, partition: number): Decoded;
  /** The UTC days (`YYYY-MM-DD`) whose salts the record needs. */
  saltDays(record: Decoded): readonly string[];
  /** The first phase of the steps (step.ts). Returns the keys of the state that `enrich` reads and writes. */
  prepare(record: Decoded, salts: Salts): readonly string[];
  /** The claim on the record's idempotency key; undefined where it has none. */
  firstSeenKey(record: Decoded): FirstSeenKey | undefined;
  /** The second phase of the steps. */
  enrich(record: Decoded, batch: ApplyContext): EncodedRow;
}

/** A row of `records` as JSONCompactEachRow: the columns of records-columns.ts, and a line feed. */
export interface EncodedRow {
  readonly row: Uint8Array;
  readonly receivedAt: number;
}
