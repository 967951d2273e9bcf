import { dayBefore } from '@weir/domain/cookieless';
import {
  HEADER_COLUMNS_VERSION,
  HEADER_RAW_OFFSET,
  HEADER_RECEIVED_AT,
  RECORDS_COLUMNS_VERSION,
} from '@weir/domain/records-columns';
import type { AppendRecord, StoredRecord } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import {
  CLAIM_CONFIRMED_MS,
  type FoldChange,
  type FoldPartition,
  type KeyHolder,
  type StateStore,
} from '@weir/ports/state-store';
import { createBatchOverlay } from './batch-overlay.ts';
import type { Enrichment } from './enrichment.ts';

export interface EnrichBatch<Draft> {
  readonly enrichment: Enrichment<Draft>;
  readonly registry: Registry;
  readonly stateStore: StateStore;
  readonly foldPartition: FoldPartition;
}

/** `behind`: the state lacks records before these; nothing was done. */
export type EnrichedBatch =
  | { readonly state: 'behind'; readonly appliedTo: number }
  | {
      readonly state: 'enriched';
      readonly appliedTo: number;
      readonly outcomes: readonly AppendRecord[];
      readonly changes: readonly FoldChange[];
    };

const VERSION = String(RECORDS_COLUMNS_VERSION);

/**
 * Enriches records that follow each other in one partition, strictly in order, against the state as it was before them.
 * Of records that the state has applied already (a repeat) it takes only those, and the caller gives the others again:
 * `outcomes` may be shorter than `records`.
 * `behindAllowed`: the state is as far back as it can be brought; go on with what it has.
 */
export async function enrichBatch<Draft>(
  task: EnrichBatch<Draft>,
  records: readonly StoredRecord[],
  behindAllowed: boolean,
): Promise<EnrichedBatch> {
  const { enrichment, stateStore, foldPartition } = task;
  const first = (records[0] as StoredRecord).offset;
  const holderOf = (draft: Draft): KeyHolder | undefined => enrichment.keyHolder(draft);
  const drafts = records.map((record) => enrichment.read(record, foldPartition.partition));

  const salts = await readSalts(
    task.registry,
    distinct(drafts, (draft) => enrichment.saltDays(draft)),
  );
  const keys = [...distinct(drafts, (draft) => enrichment.stateKeys(draft, salts))];

  /** In a store that lacks earlier records these may be taken for the first of their keys: they must not stay so. */
  async function behind(appliedTo: number): Promise<EnrichedBatch> {
    await stateStore.dropHolders(drafts.map(holderOf).filter((holder) => holder !== undefined));
    return { state: 'behind', appliedTo };
  }

  // The state before the keys' holders: where the state was lost, holding keys before the earlier records have held theirs
  // again would make a duplicate the first holder of its key. And again after them: it may have been lost in between.
  const fold = await stateStore.readFold(foldPartition, keys);
  if (fold.appliedTo < first && !behindAllowed) return behind(fold.appliedTo);

  const count = fold.appliedTo > first ? Math.min(fold.appliedTo - first, drafts.length) : drafts.length;
  const own = count === drafts.length ? drafts : drafts.slice(0, count);
  const wanted = own.map(holderOf);
  const heldBy = await holdKeys(stateStore, wanted);
  if (heldBy !== wanted) {
    const { appliedTo } = await stateStore.readFold(foldPartition, []);
    if (appliedTo < fold.appliedTo) return behind(appliedTo);
  }
  const overlay = createBatchOverlay(keys, fold.values);
  const outcomes: AppendRecord[] = own.map((draft, i) => {
    const { line, receivedAt } = enrichment.finish(draft, { salts, state: overlay, heldBy: heldBy[i] });
    return {
      partition: foldPartition.partition,
      value: line,
      headers: {
        [HEADER_RAW_OFFSET]: String(first + i),
        [HEADER_COLUMNS_VERSION]: VERSION,
        [HEADER_RECEIVED_AT]: String(receivedAt),
      },
    };
  });
  return { state: 'enriched', appliedTo: fold.appliedTo, outcomes, changes: overlay.changes() };
}

/** What all drafts need, each once. Not flatMap: it costs a hit 4 % of all its steps. */
export function distinct<Draft>(
  drafts: readonly Draft[],
  of: (draft: Draft) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const draft of drafts) for (const text of of(draft)) found.add(text);
  return found;
}

/** The salts of the days, made where there are none, and of the days before them, where there are any. */
export async function readSalts(registry: Registry, days: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const salts = new Map<string, string>();
  for (const day of days) {
    salts.set(day, await registry.salt(day));
    const before = dayBefore(day);
    const saltBefore = registry.saltMade(before);
    if (saltBefore !== undefined) salts.set(before, saltBefore);
  }
  return salts;
}

/** Who holds each draft's idempotency key, `undefined` for drafts without one; `wanted` itself where there is none at all. */
async function holdKeys(
  stateStore: StateStore,
  wanted: readonly (KeyHolder | undefined)[],
): Promise<readonly (KeyHolder | undefined)[]> {
  const holders = wanted.filter((holder) => holder !== undefined);
  if (holders.length === 0) return wanted;
  const held = await stateStore.holdFirst(holders, CLAIM_CONFIRMED_MS);
  let next = 0;
  return wanted.map((holder) => (holder === undefined ? undefined : held[next++]));
}
