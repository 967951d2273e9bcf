import { RECORDS_COLUMNS } from '@weir/domain/records-columns';
import type { KeyHolder } from '@weir/ports/state-store';
import type { Enrichment } from '../src/enrichment.ts';

/** What the loop's tests put into the raw topic. */
export interface TestRecord {
  readonly visitor: string;
  readonly key?: string;
  readonly receivedAt: number;
}

interface TestDraft extends TestRecord {
  readonly offset: number;
  readonly partition: number;
}

/**
 * Counts each visitor's records through the state: `value` of a row is how many non-duplicates of its visitor came before it
 * in the partition, so that a state which is applied twice, not at all or out of turn shows.
 */
export function createCountingEnrichment(logId: string): Enrichment<TestDraft> {
  const holderOf = ({ partition, offset, key, receivedAt }: TestDraft): KeyHolder | undefined =>
    key === undefined
      ? undefined
      : { siteId: 's', key, holder: `${logId.slice(0, 8)}:${partition}:${offset}`, receivedAt };

  return {
    read: ({ offset, value }, partition) => ({
      ...(JSON.parse(Buffer.from(value).toString()) as TestRecord),
      offset,
      partition,
    }),
    saltDays: () => [],
    stateKeys: (draft) => [`s/${draft.visitor}`],
    keyHolder: holderOf,
    finish(draft, { state, heldBy }) {
      const own = holderOf(draft);
      const duplicate = own !== undefined && heldBy?.holder !== own.holder;
      const stateKey = `s/${draft.visitor}`;
      const count = Number(state.get(stateKey) ?? 0);
      if (!duplicate) state.set(stateKey, String(count + 1), 1000 * 3600_000);
      const given: Readonly<Record<string, unknown>> = {
        outcome: duplicate ? 'duplicate' : 'row',
        site_id: 's',
        visitor_id: draft.visitor,
        timestamp: draft.receivedAt,
        received_at: draft.receivedAt,
        value: duplicate ? null : count,
        log_id: logId,
        raw_partition: draft.partition,
        raw_offset: draft.offset,
      };
      const line = `${JSON.stringify(RECORDS_COLUMNS.map((column) => given[column] ?? null))}\n`;
      return { line: Buffer.from(line), receivedAt: draft.receivedAt };
    },
  };
}
