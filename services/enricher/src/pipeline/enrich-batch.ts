import { dayBefore } from '@weir/domain/people/cookieless';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_VERSION,
} from '@weir/domain/records/records-columns';
import type { AppendRecord, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import {
  type FirstSeenKey,
  IDEMPOTENCY_WINDOW_MS,
  type RawPartition,
  type StateChange,
  type StateStore,
} from '@weir/ports/state-store';
import { timeText } from '../encoding/milliseconds-text.ts';
import { createBatchOverlay } from './batch-overlay.ts';
import type { Decided } from './decided-outcomes.ts';
import type { Enrichment } from './enrichment.ts';

export interface EnrichBatch<Decoded> {
  readonly enrichment: Enrichment<Decoded>;
  readonly registry: Registry;
  readonly stateStore: StateStore;
  readonly foldPartition: RawPartition;
  /** The ID of the current epoch: a period in which the state store loses no content (docs/glossary.md). */
  readonly epoch: string;
  /**
   * Reads the outcomes that `events.enriched` already has for the records. It is called only if a record has an idempotency key or was redriven (a
   * dead letter that is processed again). Undefined if the records have no outcomes yet: this batch then decides which of them are duplicates.
   */
  readonly decided: (() => Promise<Decided>) | undefined;
  /**
   * Resolves with true when all partitions have reported that their state is complete in this epoch. Before that, the enricher must not decide which
   * record came first with a key. Resolves with false if the epoch is over or the partition was revoked.
   */
  readonly whole: () => Promise<boolean>;
}

/**
 * `behind`: the state store lacks the changes of records before this batch. `over`: the epoch of the state store has ended. In both cases no record
 * was enriched.
 */
export type EnrichedBatch =
  | { readonly state: 'behind' | 'over' }
  | {
      readonly state: 'enriched';
      readonly appliedTo: number;
      readonly outcomes: readonly AppendRecord[];
      readonly changes: readonly StateChange[];
    };

const VERSION = String(RECORDS_COLUMNS_VERSION);

/**
 * Enriches consecutive records of one partition in order, starting from the state before the first record. If the state store already has the
 * changes of the first records of the batch, only these records are enriched: `outcomes` is then shorter than `records`, and the caller passes the
 * remaining records in the next call. With `behindAllowed`, the batch uses the state even if it lacks the changes of earlier records. The caller
 * sets `behindAllowed` only if it knows that the log no longer has these records, or that they are too old to matter.
 */
export async function enrichBatch<Decoded>(
  task: EnrichBatch<Decoded>,
  records: readonly StoredRecord[],
  behindAllowed: boolean,
): Promise<EnrichedBatch> {
  const { enrichment, stateStore, foldPartition } = task;
  const first = (records[0] as StoredRecord).offset;
  const decoded = records.map((record) => enrichment.decode(record, foldPartition.partition));

  if (decoded.some((record) => enrichment.needsNewerRegistry(record))) await task.registry.catchUp();
  const salts = await readSalts(
    task.registry,
    distinct(decoded, (record) => enrichment.saltDays(record)),
  );
  const keys = [...distinct(decoded, (record) => enrichment.prepare(record, salts))];

  const fold = await stateStore.readState(task.epoch, foldPartition, keys);
  if (fold.appliedTo < first && !behindAllowed) return { state: 'behind' };

  const count = fold.appliedTo > first ? Math.min(fold.appliedTo - first, decoded.length) : decoded.length;
  const own = count === decoded.length ? decoded : decoded.slice(0, count);
  const holders = own.map((record) => enrichment.firstSeenKey(record));
  const redrives = own.map((record) => enrichment.redriveKey(record));
  const heldBy = await keysOf(task, holders, first);
  const redrivenBy = await keysOf(task, redrives, first);
  if (heldBy === 'over' || redrivenBy === 'over') return { state: 'over' };
  const overlay = createBatchOverlay(keys, fold.values);
  const outcomes: AppendRecord[] = own.map((record, i) => {
    const { row, receivedAt } = enrichment.enrich(record, {
      state: overlay,
      firstSeen: heldBy[i],
      firstRedrive: redrivenBy[i],
    });
    return {
      partition: foldPartition.partition,
      value: row,
      headers: {
        [HEADER_RAW_OFFSET]: String(first + i),
        [HEADER_COLUMNS_VERSION]: VERSION,
        [HEADER_RECEIVED_AT]: timeText(receivedAt),
      },
    };
  });
  return { state: 'enriched', appliedTo: fold.appliedTo, outcomes, changes: overlay.changes() };
}

/** The distinct texts of all records. Does not use flatMap, which took 4 % of the CPU time of the steps. */
export function distinct<Decoded>(
  decoded: readonly Decoded[],
  of: (record: Decoded) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const record of decoded) for (const text of of(record)) found.add(text);
  return found;
}

/**
 * Returns the salts (docs/glossary.md) of the UTC days in `days`, and those of the day before each of them. A missing salt of a day in `days` is
 * created. A missing salt of a day before is left out.
 */
export async function readSalts(registry: Registry, days: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const salts = new Map<string, string>();
  for (const day of days) {
    salts.set(day, await registry.salt(day));
    const before = dayBefore(day);
    const saltBefore = registry.existingSalt(before);
    if (saltBefore !== undefined) salts.set(before, saltBefore);
  }
  return salts;
}

type HeldBy = readonly (FirstSeenKey | undefined)[] | 'over';

/**
 * For each record, returns which record came first with the same key, or `undefined` if the record has no key. Returns 'over' if the epoch of the
 * state store has ended. `first` is the raw offset of the first record of the batch.
 */
async function keysOf<Decoded>(
  task: EnrichBatch<Decoded>,
  wanted: readonly (FirstSeenKey | undefined)[],
  first: number,
): Promise<HeldBy> {
  if (wanted.every((holder) => holder === undefined)) return wanted;
  if (task.decided === undefined) return holdKeys(task, wanted);
  const outcomes = await task.decided();
  return keepKeys(task, wanted, (nth) => outcomes.get(first + nth));
}

/** Claims the idempotency keys of new records. Each key goes to the record that claims it first. */
async function holdKeys<Decoded>(
  { stateStore, epoch, whole }: EnrichBatch<Decoded>,
  wanted: readonly (FirstSeenKey | undefined)[],
): Promise<HeldBy> {
  const holders = wanted.filter((holder) => holder !== undefined);
  if (!(await whole())) return 'over';
  const held = await stateStore.insertFirstSeen(epoch, holders, IDEMPOTENCY_WINDOW_MS);
  if (held === undefined) return 'over';
  let next = 0;
  return wanted.map((holder) => (holder === undefined ? undefined : held[next++]));
}

/** Stands for the record that came first with the key of a duplicate: the log does not say which record that was. No record has this ID. */
const ANOTHER = 'another';

/**
 * Claims the keys of records that already have an outcome in the log. The outcome decides: a record whose outcome is not `duplicate` gets
 * its key. If the log does not have the outcome of a record any more (`isDuplicate` returns `undefined`), the record gets its key only if
 * no other record has it.
 */
async function keepKeys<Decoded>(
  { stateStore, epoch }: EnrichBatch<Decoded>,
  wanted: readonly (FirstSeenKey | undefined)[],
  isDuplicate: (nth: number) => boolean | undefined,
): Promise<HeldBy> {
  const holders = (duplicate: false | undefined): readonly FirstSeenKey[] =>
    wanted.filter((_, nth) => isDuplicate(nth) === duplicate).filter((holder) => holder !== undefined);
  const [first, unknown] = [holders(false), holders(undefined)];
  const kept = first.length === 0 || (await stateStore.overwriteFirstSeen(epoch, first, IDEMPOTENCY_WINDOW_MS));
  if (!kept) return 'over';
  const held = unknown.length === 0 ? [] : await stateStore.insertFirstSeen(epoch, unknown, IDEMPOTENCY_WINDOW_MS);
  if (held === undefined) return 'over';
  let next = 0;
  return wanted.map((holder, nth) => {
    if (holder === undefined) return undefined;
    const duplicate = isDuplicate(nth);
    if (duplicate === undefined) return held[next++];
    return duplicate ? { ...holder, recordId: ANOTHER } : holder;
  });
}
