import type { Analytics } from '@weir/ports/analytics';
import type { SegmentRange } from '@weir/runtime/archive/segment-name';

/** `unnamed`: the record was a duplicate, was dropped or has expired, so its row has no visitor and no user. The raw record can still have them. */
type Outcome = 'erased' | 'unnamed';

/** Looks up, in the tables, which raw records of the archive must be erased or searched. */
export interface StoredOutcomes {
  hasLog(logId: string): boolean;
  /**
   * Returns the outcomes by raw offset (docs/glossary.md). If a raw offset of the range is not in the map, it has neither of these outcomes. The
   * map can also have raw offsets outside of the range. Call it for the ranges in order: one query then reads the rows for many ranges.
   */
  read(range: SegmentRange): Promise<ReadonlyMap<number, Outcome>>;
}

interface Page {
  readonly logId: string;
  readonly partition: number;
  readonly from: number;
  /** `outcomes` is complete for the raw offsets from `from` to `to`, both included. */
  to: number;
  readonly outcomes: Map<number, Outcome>;
}

const PAGE_ROWS = 100_000;
/** If more outcomes than this are in memory, those before the requested range are removed. They are read again if they are needed. */
const OUTCOMES_MAX = 4 * PAGE_ROWS;

export async function createStoredOutcomes({ select }: Pick<Analytics, 'select'>): Promise<StoredOutcomes> {
  const logs = await select<{ log_id: string }>('SELECT DISTINCT toString(log_id) AS log_id FROM records');
  const known = new Set(logs.map(({ log_id }) => log_id));
  let page: Page | undefined;

  async function extend(to: Page): Promise<void> {
    const { logId: log, partition, from } = to;
    const rows = await select<{ raw_offset: number | string; is_erased: number | boolean }>(
      `SELECT raw_offset, outcome = 'erased' AS is_erased FROM records
       WHERE outcome IN ('erased', 'expired', 'duplicate', 'dropped') AND log_id = {log:String} AND raw_partition = {partition:UInt32}
         AND raw_offset >= {from:UInt64} ORDER BY raw_offset LIMIT ${PAGE_ROWS}`,
      { log, partition, from: Math.max(from, to.to + 1) },
    );
    for (const row of rows) to.outcomes.set(Number(row.raw_offset), row.is_erased ? 'erased' : 'unnamed');
    to.to = rows.length < PAGE_ROWS ? Number.MAX_SAFE_INTEGER : Number(rows.at(-1)?.raw_offset);
  }

  return {
    hasLog: (logId) => known.has(logId),
    async read({ logId, partition, from, to }) {
      const isOther = page?.logId !== logId || page.partition !== partition || from < page.from || page.to < from;
      if (page === undefined || isOther || page.outcomes.size > OUTCOMES_MAX) {
        page = { logId, partition, from, to: -1, outcomes: new Map() };
      }
      while (page.to < to) await extend(page);
      return page.outcomes;
    },
  };
}
