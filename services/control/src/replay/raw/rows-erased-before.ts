import type { ReplayState } from '@weir/domain/registry/replay';
import type { ShadowTables } from '@weir/ports/shadow-tables';

/** Whether the live tables have a row with the outcome `erased` for this raw record. */
export type IsErased = (partition: number, rawOffset: number) => boolean;

const PAGE_ROWS = 100_000;
const BITS = 8;

/**
 * Reads which records in the range of a replay from raw have been erased in the live tables. The tombstones (docs/glossary.md) do not show this for
 * each record: the raw record has no visitor ID if the enricher took the visitor from a link of the user, or from the visit of the day before. An
 * erasure of this visitor also removes the link and the visit, so the enricher of the replay does not find the visitor again. The result needs one
 * bit for each raw offset (docs/glossary.md) of the range.
 */
export async function readErasedRows(
  { analytics, live }: Pick<ShadowTables, 'analytics' | 'live'>,
  logId: string,
  starts: ReplayState['starts'],
): Promise<IsErased> {
  const partitions = await Promise.all(starts.map((start, partition) => readPartition(partition, start)));
  return (partition, rawOffset) => {
    const bits = partitions[partition];
    const nth = rawOffset - (starts[partition]?.rawOffset ?? 0);
    return bits !== undefined && nth >= 0 && (((bits[Math.floor(nth / BITS)] ?? 0) >> (nth % BITS)) & 1) === 1;
  };

  /** Resolves with undefined if no record of the partition is erased. */
  async function readPartition(
    partition: number,
    { rawOffset: first, rawEnd: end }: ReplayState['starts'][number],
  ): Promise<Uint8Array | undefined> {
    let bits: Uint8Array | undefined;
    for (let from = first; ; ) {
      const rows = await analytics.select<{ raw_offset: number | string }>(
        `SELECT raw_offset FROM ${live}.records
         WHERE outcome = 'erased' AND log_id = {log:String} AND raw_partition = {partition:UInt32}
           AND raw_offset >= {from:UInt64} AND raw_offset < {end:UInt64}
         ORDER BY raw_offset LIMIT ${PAGE_ROWS}`,
        { log: logId, partition, from, end },
      );
      for (const row of rows) {
        bits ??= new Uint8Array(Math.ceil((end - first) / BITS));
        const nth = Number(row.raw_offset) - first;
        const byte = Math.floor(nth / BITS);
        bits[byte] = (bits[byte] ?? 0) | (1 << (nth % BITS));
      }
      if (rows.length < PAGE_ROWS) return bits;
      from = Number(rows.at(-1)?.raw_offset) + 1;
    }
  }
}
