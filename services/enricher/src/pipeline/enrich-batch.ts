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
import { createBatchOverlay } from './batch-overlay.ts';
import type { Decided } from './decided-outcomes.ts';
import type { Enrichment } from './enrichment.ts';

export interface EnrichBatch<Decoded> {
  readonly enrichment: Enrichment<Decoded>;
  readonly registry: Registry;
  readonly stateStore: StateStore;
  readonly foldPartition: RawPartition;
  /** Of the state store. */
  readonly epoch: string;
  /** What the log says of records that have outcomes; without it they are to be decided. */
  readonly decided: Decided | undefined;
  /** Resolves when keys may be decided within the epoch; `false`: they may not. */
  readonly whole: () => Promise<boolean>;
}

/** `behind`: the state lacks records before these; `over`: the epoch has ended. Nothing was done. */
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
 * Enriches records that follow each other in one partition, strictly in order, against the state as it was before them.
 * Of records that the state has applied already (a repeat) it takes only those, and the caller gives the others again:
 * `outcomes` may be shorter than `records`.
 * `behindAllowed`: the state is as far back as it can be brought; go on with what it has.
 */
export async function enrichBatch<Decoded>(
  task: EnrichBatch<Decoded>,
  records: readonly StoredRecord[],
  behindAllowed: boolean,
): Promise<EnrichedBatch> {
  const { enrichment, stateStore, foldPartition } = task;
  const first = (records[0] as StoredRecord).offset;
  const holderOf = (record: Decoded): FirstSeenKey | undefined => enrichment.firstSeenKey(record);
  const decoded = records.map((record) => enrichment.decode(record, foldPartition.partition));

  const salts = await readSalts(
    task.registry,
    distinct(decoded, (record) => enrichment.saltDays(record)),
  );
  const keys = [...distinct(decoded, (record) => enrichment.prepare(record, salts))];

  const fold = await stateStore.readState(task.epoch, foldPartition, keys);
  if (fold.appliedTo < first && !behindAllowed) return { state: 'behind' };

  const count = fold.appliedTo > first ? Math.min(fold.appliedTo - first, decoded.length) : decoded.length;
  const own = count === decoded.length ? decoded : decoded.slice(0, count);
  const wanted = own.map(holderOf);
  const heldBy = await (task.decided === undefined
    ? holdKeys(task, wanted)
    : keepKeys(task, wanted, (nth) => task.decided?.get(first + nth)));
  if (heldBy === 'over') return { state: 'over' };
  const overlay = createBatchOverlay(keys, fold.values);
  const outcomes: AppendRecord[] = own.map((record, i) => {
    const { row, receivedAt } = enrichment.enrich(record, { state: overlay, firstSeen: heldBy[i] });
    return {
      partition: foldPartition.partition,
      value: row,
      headers: {
        [HEADER_RAW_OFFSET]: String(first + i),
        [HEADER_COLUMNS_VERSION]: VERSION,
        [HEADER_RECEIVED_AT]: String(receivedAt),
      },
    };
  });
  return { state: 'enriched', appliedTo: fold.appliedTo, outcomes, changes: overlay.changes() };
}

/** The distinct texts of all records. Without flatMap, which took 4 % of the CPU time of the steps. */
export function distinct<Decoded>(
  decoded: readonly Decoded[],
  of: (record: Decoded) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const record of decoded) for (const text of of(record)) found.add(text);
  return found;
}

/** The salts of the days, made where there are none, and of the days before them, where there are any. */
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

/** Who holds each record's idempotency key, `undefined` for records without one; `wanted` itself where there is none at all. */
async function holdKeys<Decoded>(
  { stateStore, epoch, whole }: EnrichBatch<Decoded>,
  wanted: readonly (FirstSeenKey | undefined)[],
): Promise<HeldBy> {
  const holders = wanted.filter((holder) => holder !== undefined);
  if (holders.length === 0) return wanted;
  if (!(await whole())) return 'over';
  const held = await stateStore.insertFirstSeen(epoch, holders, IDEMPOTENCY_WINDOW_MS);
  if (held === undefined) return 'over';
  let next = 0;
  return wanted.map((holder) => (holder === undefined ? undefined : held[next++]));
}

/** No record has this name, so a record whose key it holds is a duplicate. */
const ANOTHER = 'another';

/**
 * Holds the keys for the records that were the first of them when they were decided. What the log does not have any more
 * (`undefined`) is held in the order in which it comes.
 */
async function keepKeys<Decoded>(
  { stateStore, epoch }: EnrichBatch<Decoded>,
  wanted: readonly (FirstSeenKey | undefined)[],
  isDuplicate: (nth: number) => boolean | undefined,
): Promise<HeldBy> {
  const first = wanted.filter((holder, nth) => holder !== undefined && isDuplicate(nth) === false);
  const unknown = wanted.filter((holder, nth) => holder !== undefined && isDuplicate(nth) === undefined);
  const kept =
    first.length === 0 || (await stateStore.overwriteFirstSeen(epoch, asHolders(first), IDEMPOTENCY_WINDOW_MS));
  if (!kept) return 'over';
  const held =
    unknown.length === 0 ? [] : await stateStore.insertFirstSeen(epoch, asHolders(unknown), IDEMPOTENCY_WINDOW_MS);
  if (held === undefined) return 'over';
  let next = 0;
  return wanted.map((holder, nth) => {
    if (holder === undefined) return undefined;
    const duplicate = isDuplicate(nth);
    if (duplicate === undefined) return held[next++];
    return duplicate ? { ...holder, recordId: ANOTHER } : holder;
  });
}

function asHolders(wanted: readonly (FirstSeenKey | undefined)[]): readonly FirstSeenKey[] {
  return wanted.filter((holder) => holder !== undefined);
}
