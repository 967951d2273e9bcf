import { addAbortSignal } from 'node:stream';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import type { Analytics } from '@weir/ports/analytics';
import type { ObjectStore } from '@weir/ports/object-store';
import { endKey, grownIn, type ParquetEnd, type ParquetPart, type ParquetRound, partName } from './parquet-rounds.ts';

/** The time limit of the query for one part, which can have all rows that a site received in a day. */
const PART_SECONDS_MAX = 3_600;

type Params = Readonly<Record<string, unknown>>;

/**
 * Returns a condition for the rows that a round exports: the rows within its limits, without those within the limits of the round
 * before.
 */
function rowsOfRound(before: ParquetRound, round: ParquetRound): { readonly sql: string; readonly params: Params } {
  const limit = (which: string, name: string): string =>
    `transform(concat(log_id, ' ', toString(raw_partition)), {${which}_keys:Array(String)}, {${which}_${name}:Array(UInt64)}, toUInt64(0))`;
  const upTo = (which: string): string =>
    `(toDate(received_at, 'UTC') <= {${which}_through:Date} AND raw_offset < ${limit(which, 'ends')} ` +
    `AND toYYYYMMDD(received_at, 'UTC') <= ${limit(which, 'days')})`;
  const paramsOf = (which: string, { through, ends }: ParquetRound): Params => ({
    [`${which}_through`]: through,
    // The first element of each list is only there because ClickHouse cannot find the type of an empty list.
    [`${which}_keys`]: ['', ...ends.map(({ logId, partition }) => `${logId} ${partition}`)],
    [`${which}_ends`]: [0, ...ends.map(({ end }) => end)],
    [`${which}_days`]: [0, ...ends.map((end) => Number((end.through ?? through).replaceAll('-', '')))],
  });
  return {
    sql: `site_id != '' AND ${upTo('round')} AND NOT ${upTo('before')}`,
    params: { ...paramsOf('round', round), ...paramsOf('before', before) },
  };
}

export async function storedLogs({ select }: Pick<Analytics, 'select'>): Promise<ReadonlySet<string>> {
  // With GROUP BY, ClickHouse reads the projection `offsets`. With DISTINCT, it would read the column of the whole table.
  const rows = await select<{ id: string }>('SELECT toString(log_id) AS id FROM records GROUP BY log_id');
  return new Set(rows.map(({ id }) => id));
}

/** Reads when the last record below each of these limits was received (`ParquetEnd.lastAt`), by `endKey`, for the records that the tables have. */
export async function lastTimes(
  { select }: Pick<Analytics, 'select'>,
  ends: readonly ParquetEnd[],
): Promise<ReadonlyMap<string, number>> {
  if (ends.length === 0) return new Map();
  const rows = await select<{ log_id: string; raw_partition: number; at: number | string }>(
    `SELECT toString(log_id) AS log_id, raw_partition, toUnixTimestamp64Milli(max(received_at)) AS at FROM records
     WHERE raw_offset IN {offsets:Array(UInt64)}
       AND concat(log_id, ' ', toString(raw_partition), ' ', toString(raw_offset)) IN {places:Array(String)}
     GROUP BY log_id, raw_partition`,
    { offsets: ends.map(({ end }) => end - 1), places: ends.map((end) => `${endKey(end)} ${end.end - 1}`) },
  );
  return new Map(
    rows.map(({ log_id: logId, raw_partition: partition, at }) => [endKey({ logId, partition }), Number(at)]),
  );
}

/**
 * Whether a restore of an older backup has replaced records of which the round has exported rows. The files of the round can then have rows that the
 * tables do not have.
 */
export async function isOfLostRecords(
  analytics: Pick<Analytics, 'select'>,
  before: ParquetRound,
  round: ParquetRound,
): Promise<boolean> {
  const ends = grownIn(before, round).filter(({ lastAt }) => lastAt !== undefined);
  const times = await lastTimes(analytics, ends);
  return ends.some((end) => times.get(endKey(end)) !== end.lastAt);
}

/** Lists the files that a round exports, sorted by name. */
export async function partsOf(
  { select }: Pick<Analytics, 'select'>,
  before: ParquetRound,
  round: ParquetRound,
): Promise<readonly ParquetPart[]> {
  const { sql, params } = rowsOfRound(before, round);
  const rows = await select<{ site: string; day: string }>(
    `SELECT DISTINCT toString(site_id) AS site, toString(toDate(received_at, 'UTC')) AS day FROM records WHERE ${sql}`,
    params,
  );
  return rows
    .map(({ site, day }) => ({ site, day, round: round.round }))
    .toSorted((a, b) => (partName(a) < partName(b) ? -1 : 1));
}

/**
 * Stores a part with the rows that the tables have now. If a row of the part changes during the upload, stores the part again. So the store does not
 * keep a part from before an erasure, an expiry or a swap (docs/glossary.md), even if this process was paused meanwhile. `signal` ends the upload.
 */
export async function storePart(
  {
    analytics,
    store,
  }: { readonly analytics: Pick<Analytics, 'streamQuery' | 'select' | 'generation'>; readonly store: ObjectStore },
  part: ParquetPart,
  before: ParquetRound,
  round: ParquetRound,
  signal?: AbortSignal,
): Promise<void> {
  const { sql, params } = rowsOfRound(before, round);
  const from = `FROM records WHERE site_id = {site:String} AND received_at >= toDateTime64({day:String}, 3, 'UTC')
     AND received_at < toDateTime64({day:String}, 3, 'UTC') + INTERVAL 1 DAY AND ${sql}`;
  const given = { ...params, site: part.site, day: part.day };
  const state = async (): Promise<string> => {
    // Only an erasure and an expiry change stored rows. Both change the outcome.
    const digest = 'count() AS rows, sum(cityHash64(log_id, raw_partition, raw_offset, outcome)) AS digest';
    return JSON.stringify([await analytics.generation(), await analytics.select(`SELECT ${digest} ${from}`, given)]);
  };
  // Parquet has no type for JSON.
  const columns = RECORDS_COLUMNS.map((name) => (name === 'properties' ? 'toString(properties) AS properties' : name));
  let read: string;
  let now = await state();
  do {
    read = now;
    const rows = await analytics.streamQuery(`SELECT ${columns.join(', ')} ${from}`, given, {
      format: 'Parquet',
      secondsMax: PART_SECONDS_MAX,
    });
    await store.put(partName(part), signal === undefined ? rows : addAbortSignal(signal, rows));
    now = await state();
  } while (now !== read);
}
