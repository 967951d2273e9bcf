import type { Analytics } from '@weir/ports/analytics';
import { dimensionOf } from '../reports/dimensions.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import { rowsBetween } from '../rows-between.ts';
import { isPlainName, pairsOf } from './property-sql.ts';
import { BUILD_SETTINGS, COUNTED, DAY_MS, type SiteDays } from './slot-sql.ts';

/** Which custom properties the slots (docs/glossary.md) of a build contain (docs/decisions/0056). */
export interface SlotProperties {
  /** The names of the properties whose values are in the slots. */
  readonly included: readonly string[];
  /** All names that rows of the day or of the next day have, for each day. A visit of the day can have rows on the next day. */
  readonly ofDay: ReadonlyMap<string, readonly string[]>;
  /** Whether `ofDay` has all names that a report can ask for. */
  readonly isComplete: boolean;
}

/** For a build without custom properties: reports on properties read the rows of its days. */
export const NO_PROPERTIES: SlotProperties = { included: [], ofDay: new Map(), isComplete: false };

/** A build with more names than this lists only those that most rows have. */
const LISTED_MAX = 256;
const INCLUDED_MAX = 64;
/**
 * A property is included only if its different values have together at most this size. Pages and event names compress well, but order numbers and
 * request IDs do not: with a value of its own for each row, slots would be several times as large.
 */
const DISTINCT_BYTES_PER_ROW_MAX = 4;
const DISTINCT_BYTES_MIN = 100_000;
const VALUE_BYTES_AVERAGE_MAX = 100;
/**
 * A report reads the elements of all properties of a slot. With more values for each row on average, it would not be faster than a report that reads
 * the rows.
 */
const VALUES_PER_ROW_MAX = 8;

/** A row can have 32 KiB of properties, and the statements read all properties of the rows of a block. */
const SCAN_SETTINGS = `${BUILD_SETTINGS}, max_block_size = 1024`;

/** Finds out which properties the counted rows of these days have, and selects those that the slots will contain. */
export async function readSlotProperties(
  analytics: Pick<Analytics, 'select'>,
  site: SiteDays,
): Promise<SlotProperties> {
  const params = { site: site.siteId, from: site.fromMs, to: site.toMs + DAY_MS };
  const rows = `FROM records WHERE ${COUNTED} AND ${rowsBetween('{from:Int64}', '{to:Int64}')}`;
  // The empty name counts all rows. No report can ask for a property without a name.
  const found = await analytics.select<{ name: string; name_rows: number | string; days: readonly string[] }>(
    `SELECT name, count() AS name_rows, groupUniqArray(toString(day)) AS days FROM
     (
       SELECT toDate(timestamp, 'UTC') AS day, arrayJoin(arrayPushBack(JSONAllPaths(properties), '')) AS name ${rows}
     )
     GROUP BY name ORDER BY name_rows DESC, name LIMIT ${LISTED_MAX + 2} ${SCAN_SETTINGS}`,
    params,
  );
  const all = Number(found.find(({ name }) => name === '')?.name_rows ?? 0);
  const listed = found.filter(({ name }) => dimensionOf(`property:${name}`) !== undefined).slice(0, LISTED_MAX);
  const candidates = listed
    .map(({ name }) => name)
    .filter(isPlainName)
    .slice(0, INCLUDED_MAX);
  const sizes =
    candidates.length === 0
      ? []
      : await analytics.select<Readonly<Record<'nth' | 'value_rows' | 'value_count' | 'bytes', string>>>(
          `SELECT pair.1 AS nth, count() AS value_rows, uniq(pair.2) AS value_count, avg(length(pair.2)) AS bytes
           FROM (SELECT arrayJoin(${pairsOf(candidates)}) AS pair ${rows})
           GROUP BY nth ORDER BY value_rows, nth ${SCAN_SETTINGS}`,
          params,
        );
  // Rare properties first: so most names are included.
  let room = VALUES_PER_ROW_MAX * all;
  const tooLarge = new Set<string>();
  for (const { nth, value_rows, value_count, bytes } of sizes) {
    const name = candidates[Number(nth) - 1] ?? '';
    const isSmall =
      Number(value_count) * Number(bytes) <= Math.max(DISTINCT_BYTES_MIN, DISTINCT_BYTES_PER_ROW_MAX * all) &&
      Number(bytes) <= VALUE_BYTES_AVERAGE_MAX;
    if (isSmall && Number(value_rows) <= room) room -= Number(value_rows);
    else tooLarge.add(name);
  }
  const days = Array.from({ length: (site.toMs - site.fromMs) / DAY_MS }, (_, nth) => site.fromMs + nth * DAY_MS);
  const namesOf = (ms: number): readonly string[] =>
    listed
      .filter((one) => one.days.includes(dayOf(ms)) || one.days.includes(dayOf(ms + DAY_MS)))
      .map(({ name }) => name);
  return {
    included: candidates.filter((name) => !tooLarge.has(name)),
    ofDay: new Map(days.map((ms) => [dayOf(ms), namesOf(ms)])),
    isComplete: found.length <= LISTED_MAX + 1,
  };
}
