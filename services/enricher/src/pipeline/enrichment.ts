import type { StoredRecord } from '@weir/ports/event-log';
import type { FirstSeenKey } from '@weir/ports/state-store';
import type { ApplyContext, Salts } from './step.ts';

/**
 * Turns one raw record into exactly one outcome. The methods are called in this order. For all records of a batch together, the registry
 * catches up after `needsNewerRegistry`, the salts are read after `saltDays`, and the state and the first-seen keys after `prepare`. All methods
 * are synchronous and do no I/O. No method throws: a record becomes a dead letter if it cannot be read or if a step fails.
 */
export interface Enrichment<Decoded> {
  decode(record: Pick<StoredRecord, 'offset' | 'value' | 'appendedAt'>, partition: number): Decoded;
  /** Whether the registry must catch up before the record is enriched. */
  needsNewerRegistry(record: Decoded): boolean;
  /** The UTC days (`YYYY-MM-DD`) whose salts the record needs. */
  saltDays(record: Decoded): readonly string[];
  /** The first phase of the steps (step.ts). Returns the keys of the state that `enrich` reads and writes. */
  prepare(record: Decoded, salts: Salts): readonly string[];
  /** The claim on the record's idempotency key; undefined if the record has no key. */
  firstSeenKey(record: Decoded): FirstSeenKey | undefined;
  /**
   * The claim on the attempt with which a dead letter was redriven: of several records with the same attempt, only the first one is no duplicate.
   * Undefined for a record that is not redriven.
   */
  redriveKey(record: Decoded): FirstSeenKey | undefined;
  /** The second phase of the steps. */
  enrich(record: Decoded, batch: ApplyContext): EncodedRow;
}

/** A row of `records` as JSONCompactEachRow: the columns of records-columns.ts, and a line feed. */
export interface EncodedRow {
  readonly row: Uint8Array;
  readonly receivedAt: number;
}
