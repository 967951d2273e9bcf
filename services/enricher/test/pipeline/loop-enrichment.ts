import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import type { FirstSeenKey } from '@weir/ports/state-store';
import type { Enrichment } from '../../src/pipeline/enrichment.ts';

/** A record that the tests of the consumer loop put into the raw topic. */
export interface TestRecord {
  readonly visitor: string;
  readonly key?: string;
  readonly receivedAt: number;
}

interface TestDecoded extends TestRecord {
  readonly offset: number;
  readonly partition: number;
}

/**
 * An enrichment that counts each visitor's records in the state. The `value` of a row is the number of earlier non-duplicates
 * of its visitor in the partition. A state that is applied twice, not at all or in the wrong order therefore gives a wrong
 * `value`.
 */
export function createCountingEnrichment(logId: string): Enrichment<TestDecoded> {
  const holderOf = ({ partition, offset, key, receivedAt }: TestDecoded): FirstSeenKey | undefined =>
    key === undefined
      ? undefined
      : { siteId: 's', key, recordId: `${logId.slice(0, 8)}:${partition}:${offset}`, receivedAt };

  return {
    decode: ({ offset, value }, partition) => ({
      ...(JSON.parse(Buffer.from(value).toString()) as TestRecord),
      offset,
      partition,
    }),
    needsNewerRegistry: () => false,
    saltDays: () => [],
    prepare: (record) => [`s/${record.visitor}`],
    firstSeenKey: holderOf,
    redriveKey: () => undefined,
    enrich(record, { state, firstSeen }) {
      const own = holderOf(record);
      const duplicate = own !== undefined && firstSeen?.recordId !== own.recordId;
      const stateKey = `s/${record.visitor}`;
      const count = Number(state.get(stateKey) ?? 0);
      if (!duplicate) state.set(stateKey, String(count + 1), 1000 * 3600_000);
      const given: Readonly<Record<string, unknown>> = {
        outcome: duplicate ? 'duplicate' : 'row',
        site_id: 's',
        visitor_id: record.visitor,
        timestamp: record.receivedAt,
        received_at: record.receivedAt,
        value: duplicate ? null : count,
        log_id: logId,
        raw_partition: record.partition,
        raw_offset: record.offset,
      };
      const line = `${JSON.stringify(RECORDS_COLUMNS.map((column) => given[column] ?? null))}\n`;
      return { row: Buffer.from(line), receivedAt: record.receivedAt };
    },
  };
}
