import type { Analytics } from '@weir/ports/analytics';

/** The rows of one raw partition of the present log. */
export interface PartitionRows {
  readonly partition: number;
  readonly records: number;
  /** The highest raw offset (docs/glossary.md). */
  readonly highest: number;
}

/** A part of a WHERE clause, with its parameters. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Counts the rows of each partition. ClickHouse reads these numbers from the projection `offsets` of the table, and reads no rows. */
export async function countPartitions(
  { select }: Pick<Analytics, 'select'>,
  logId: string,
): Promise<readonly PartitionRows[]> {
  const rows = await select<Readonly<Record<keyof PartitionRows, number | string>>>(
    `SELECT raw_partition AS partition, count() AS records, max(raw_offset) AS highest FROM records
     WHERE log_id = {log:String} GROUP BY raw_partition`,
    { log: logId },
  );
  return rows.map(({ partition, records, highest }) => ({
    ...{ partition: Number(partition), records: Number(records), highest: Number(highest) },
  }));
}

/**
 * Selects the rows of these partitions from the raw offset `from(partition)` to `highest`, so it leaves out rows that a writer has inserted since
 * `countPartitions`. `column`: the name of the column with the raw offset. The condition with `least`, the lowest `from`, is redundant, but lets
 * ClickHouse use the index.
 */
export function rowsAbove(
  logId: string,
  counted: readonly PartitionRows[],
  from: (partition: number) => number,
  column = 'raw_offset',
): Condition {
  if (counted.length === 0) return { sql: 'false', params: {} };
  const partitions = counted.map(({ partition }) => partition);
  const froms = partitions.map(from);
  const nexts = counted.map(({ highest }) => highest + 1);
  const of = (name: string): string =>
    `transform(raw_partition, {partitions:Array(UInt32)}, {${name}:Array(UInt64)}, toUInt64(0))`;
  return {
    sql: `log_id = {log:String} AND ${column} >= {least:UInt64} AND ${column} >= ${of('froms')} AND ${column} < ${of('nexts')}`,
    params: { log: logId, partitions, froms, nexts, least: Math.min(...froms) },
  };
}
