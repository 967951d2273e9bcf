import type { StoredRecord } from '@weir/ports/event-log';
import type { FirstSeenKey } from '@weir/ports/state-store';
import type { ApplyContext, Salts } from './step.ts';

/**
 * Turns each raw record into exactly one outcome. enrich-batch.ts calls the methods in the order below, each for all records of a batch. Between
 * the methods, it reads what the next method needs: the newest changes of the registry after `needsNewerRegistry`, the salts after `saltDays`, the
 * state after `prepare`, and the records that came first with the keys after `redriveKey`. The methods are synchronous. They do not throw: if a
 * record cannot be read or a step fails, the record becomes a dead letter.
 */
export interface Enrichment<Decoded> {
  decode(record: Pick<StoredRecord, 'offset' | 'value' | 'appendedAt'>, partition: number): Decoded;
  /** Whether the registry (sites, rules and so on, in memory) must read its newest changes before the record is enriched. */
  needsNewerRegistry(record: Decoded): boolean;
  /** The UTC days (`YYYY-MM-DD`) whose salts the record needs, to decrypt its client IP or to compute its visitor ID. */
  saltDays(record: Decoded): readonly string[];
  /** The first phase of the steps (step.ts). Returns the keys of the state that `enrich` reads and writes. */
  prepare(record: Decoded, salts: Salts): readonly string[];
  /** The claim on the record's idempotency key; undefined if the record has no key. */
  firstSeenKey(record: Decoded): FirstSeenKey | undefined;
  /**
   * The key of a dead letter that is processed again (redriven): it names the dead letter and the attempt. Of several records with this key, only the
   * first one is processed. Undefined for all other records.
   */
  redriveKey(record: Decoded): FirstSeenKey | undefined;
  /** The second phase of the steps (step.ts). Returns the row with the outcome of the record. */
  enrich(record: Decoded, batch: ApplyContext): EncodedRow;
}

/** A row of `records` as JSONCompactEachRow: the columns of records-columns.ts, and a line feed. */
export interface EncodedRow {
  readonly row: Uint8Array;
  readonly receivedAt: number;
}
