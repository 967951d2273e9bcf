import type { StoredRecord } from '@weir/ports/event-log';
import type { KeyHolder } from '@weir/ports/state-store';
import type { BatchState } from './batch-state.ts';

/**
 * Enriching one raw record, in two halves, so that a batch needs one round trip to the state store between them.
 * Both halves are synchronous and pure but for the caches inside (user agents, geo).
 */
export interface Enrichment<Draft> {
  /** Reads the record. Never throws: what can't be read is a draft that becomes a dead letter. */
  read(record: Pick<StoredRecord, 'offset' | 'value' | 'appendedAt'>, partition: number): Draft;
  /** The UTC days (`YYYY-MM-DD`) whose salts the draft needs. */
  saltDays(draft: Draft): readonly string[];
  /** The state that `finish` may ask for. Never throws: where it can't be told, `finish` makes a dead letter. */
  stateKeys(draft: Draft, salts: ReadonlyMap<string, string>): readonly string[];
  /** The claim on its idempotency key, where the record has one. */
  keyHolder(draft: Draft): KeyHolder | undefined;
  /** `heldBy`: who holds the draft's idempotency key. Never throws: a step that fails makes a dead letter. */
  finish(draft: Draft, batch: FinishContext): EnrichedRecord;
}

export interface FinishContext {
  readonly salts: ReadonlyMap<string, string>;
  readonly state: BatchState;
  readonly heldBy: KeyHolder | undefined;
}

/** The one outcome of a raw record: a line of `records` (JSONCompactEachRow, ending in \n, columns of records-columns.ts). */
export interface EnrichedRecord {
  readonly line: Uint8Array;
  readonly receivedAt: number;
}
