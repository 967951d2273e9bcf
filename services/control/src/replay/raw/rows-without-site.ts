import type { ReplayState } from '@weir/domain/registry/replay';
import type { ShadowTables } from '@weir/ports/shadow-tables';

/** Whether the live tables have a row without a site for this raw record. */
export type HasNoSite = (partition: number, rawOffset: number) => boolean;

/**
 * Reads the live rows without a site, in the range of a replay from raw. Such a row is the dead letter of a record that could not be read. A replay
 * of one site copies the dead letter, because it is not a row of the site. But the enricher of the replay may be able to read the record now, and
 * make a row of the site from it. The writer of the replay must not store that row too.
 */
export async function readRowsWithoutSite(
  { analytics, live }: Pick<ShadowTables, 'analytics' | 'live'>,
  logId: string,
  starts: ReplayState['starts'],
): Promise<HasNoSite> {
  const rows = await analytics.select<{ raw_partition: number; raw_offset: number | string }>(
    `SELECT raw_partition, raw_offset FROM ${live}.records
     WHERE site_id = '' AND log_id = {log:String} AND raw_offset >= {firsts:Array(UInt64)}[raw_partition + 1]
       AND raw_offset < {ends:Array(UInt64)}[raw_partition + 1]`,
    { log: logId, firsts: starts.map(({ rawOffset }) => rawOffset), ends: starts.map(({ rawEnd }) => rawEnd) },
  );
  const offsets = starts.map(() => new Set<number>());
  for (const row of rows) offsets[row.raw_partition]?.add(Number(row.raw_offset));
  return (partition, rawOffset) => offsets[partition]?.has(rawOffset) ?? false;
}
