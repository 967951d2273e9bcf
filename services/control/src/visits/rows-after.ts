import type { Analytics } from '@weir/ports/analytics';

/** By log ID and partition of `events.raw`: an offset in this partition (a raw offset). */
export type RawPositions = ReadonlyMap<string, ReadonlyMap<number, number>>;

const LOG_ID = /^[\w-]*$/;

/** Reads the highest raw offset of each log and partition that `records` has. */
export function lastPositions(analytics: Pick<Analytics, 'select'>): Promise<RawPositions> {
  return readPositions(analytics, 'SELECT log_id, raw_partition, max(raw_offset) AS raw_offset FROM records');
}

/**
 * Returns positions before the rows that were received in the last `ms` before the newest row: for each log and partition, the raw offset before the
 * first of these rows. If a dump was imported in this time, its rows are after these positions too, although they have an older time of receipt.
 */
export function positionsBefore(analytics: Pick<Analytics, 'select'>, ms: number): Promise<RawPositions> {
  return readPositions(
    analytics,
    `SELECT log_id, raw_partition, toInt64(min(raw_offset)) - 1 AS raw_offset FROM records
     WHERE received_at >= (SELECT max(received_at) FROM records) - INTERVAL ${Math.round(ms)} MILLISECOND`,
  );
}

async function readPositions(analytics: Pick<Analytics, 'select'>, statement: string): Promise<RawPositions> {
  const rows = await analytics.select<Record<'log' | 'part' | 'place', string | number>>(
    `SELECT toString(log_id) AS log, raw_partition AS part, raw_offset AS place FROM (${statement} GROUP BY log_id, raw_partition)`,
  );
  const positions = new Map<string, Map<number, number>>();
  for (const { log, part, place } of rows) {
    const own = positions.get(String(log)) ?? new Map<number, number>();
    positions.set(String(log), own.set(Number(part), Number(place)));
  }
  return positions;
}

/**
 * The SQL condition for rows of `records` after these positions. `others`: whether it also selects the rows of all logs and partitions that have no
 * position.
 */
export function rowsAfter(positions: RawPositions, others: boolean): string {
  const logs = [...positions.keys()];
  const bad = logs.find((log) => !LOG_ID.test(log));
  if (bad !== undefined) throw new Error('a log ID has an unexpected character');
  const last = others ? 'toInt64(-1)' : 'toInt64(9223372036854775807)';
  const conditions = [...positions].map(([log, own]) => {
    const offsets = [...own.values()].map((offset) => `toInt64(${offset})`).join(', ');
    return `(log_id = '${log}' AND toInt64(raw_offset) > transform(raw_partition, [${[...own.keys()].join(', ')}], [${offsets}], ${last}))`;
  });
  if (others)
    conditions.push(logs.length === 0 ? 'true' : `log_id NOT IN (${logs.map((log) => `'${log}'`).join(', ')})`);
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}
