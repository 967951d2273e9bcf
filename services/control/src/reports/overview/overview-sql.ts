import { rowsBetween } from '../../rows-between.ts';
import { createParameters } from '../parameters.ts';
import type { Period } from '../period.ts';
import { RECENT_MINUTES } from '../realtime/realtime-sql.ts';
import { BEGUN_OF_VISIT, COUNT_HITS, COUNT_VISITS, type Statement, sumFound } from '../report-sql.ts';

/** The sites of one time zone, whose days begin at the same moments. */
export interface OverviewZone {
  readonly siteIds: readonly string[];
  readonly period: Period;
  /** The period directly before `period`, with the same number of days, or with the same length. */
  readonly before: Period;
  /** The starts of the buckets of `period`. */
  readonly starts: readonly number[];
}

/**
 * The statement returns one row for each site with visitors in the last minutes before `nowMs`: the visitors that the realtime report of the site
 * counts in `last_5_minutes`.
 */
export function presentStatement(siteIds: readonly string[], nowMs: number, withBots: boolean): Statement {
  const parameters = createParameters();
  const sites = parameters.put('sites', 'Array(String)', siteIds);
  const from = parameters.put('from', 'Int64', nowMs - RECENT_MINUTES * 60_000);
  const to = parameters.put('to', 'Int64', nowMs);
  const sql = `SELECT site_id, uniqExactIf(visitor_id, visitor_id != '') AS visitors
FROM records
WHERE outcome = 'row' AND site_id IN ${sites}
  AND ${rowsBetween(from, to)}
  AND NOT startsWith(event_name, '$')${withBots ? '' : "\n  AND bot = ''"}
GROUP BY site_id`;
  return { sql, params: parameters.values };
}

/**
 * The bucket keys of zone n begin at n times this number. It is greater than every time in Unix milliseconds up to the year 2100, so the keys
 * of two zones never overlap.
 */
const ZONE_STEP = 2 ** 42;

/** Returns the key that the statement uses for the bucket that starts at this time in this zone. */
const bucketKey = (zoneNumber: number, startMs: number): number => zoneNumber * ZONE_STEP + bucketStart(startMs);
/** The start of a bucket as `startOfKey` returns it. */
export const bucketStart = (startMs: number): number => Math.max(0, startMs);
export const startOfKey = (key: number): number => key % ZONE_STEP;

/**
 * ClickHouse limits a parameter to 128 KiB. A number has up to 16 digits, so a list of numbers is divided into parameters of at most this many
 * numbers. Only a few parameters are needed: many time zones have the same bucket starts, so there are at most about 60 different lists of them.
 */
const CUTS_MAX = 7_000;

/** Joins the zones with the same periods and buckets, and leaves out zones without a site. */
function joinZones(zones: readonly OverviewZone[]): readonly OverviewZone[] {
  const joined = new Map<string, OverviewZone>();
  for (const zone of zones) {
    if (zone.siteIds.length === 0) continue;
    const { period, before, starts } = zone;
    const moments = [period.fromMs, period.toMs, before.fromMs, before.toMs, ...starts].join();
    const siteIds = [...(joined.get(moments)?.siteIds ?? []), ...zone.siteIds];
    joined.set(moments, { ...zone, siteIds });
  }
  return [...joined.values()];
}

/**
 * For each site, the statement returns rows of `Counts` (report-metrics.ts): one for each bucket that is not empty (the column `bucket` contains
 * its key), one for the whole period, and one for the period before it. The last two have `is_total`. They are missing if they would be empty.
 *
 * The statement reads `records` and `session_parts`, and not the views `events` and `sessions`. Each query of these views first finds the moved
 * sessions (docs/glossary.md) of all sites, although only those of the given sites are needed.
 *
 * The function `roundDown` needs one constant list of numbers for all zones, but buckets begin at different times in each zone. In this list, the
 * start of a bucket is therefore the number of its zone times `ZONE_STEP`, plus the time in Unix milliseconds.
 */
export function overviewStatement(ofZones: readonly OverviewZone[], withBots: boolean): Statement {
  const zones = joinZones(ofZones);
  const parameters = createParameters();
  const sites = parameters.put(
    'sites',
    'Array(String)',
    zones.flatMap(({ siteIds }) => siteIds),
  );
  const numbers = parameters.put(
    'zones',
    'Array(Int64)',
    zones.flatMap(({ siteIds }, n) => siteIds.map(() => n)),
  );
  const befores = zones.flatMap(({ before }, n) => (before.toMs > 0 ? [bucketKey(n, before.fromMs)] : []));
  const outside = zones.flatMap(({ period }, n) => [n * ZONE_STEP - 1, bucketKey(n, period.toMs)]);
  const starts = zones.flatMap((zone, n) => zone.starts.map((start) => bucketKey(n, start)));
  const allCuts = [...befores, ...outside, ...starts].toSorted((a, b) => a - b);
  const parts = Array.from({ length: Math.ceil(allCuts.length / CUTS_MAX) }, (_, n) =>
    parameters.put(`cuts${n}`, 'Array(Int64)', allCuts.slice(n * CUTS_MAX, (n + 1) * CUTS_MAX)),
  );
  const cuts = parts.length === 1 ? parts[0] : `arrayConcat(${parts.join(', ')})`;
  const before = parameters.put('befores', 'Array(Int64)', befores);
  const notCounted = parameters.put('outside', 'Array(Int64)', outside);
  const from = parameters.put('from', 'Int64', Math.min(...zones.map((zone) => zone.before.fromMs)));
  const to = parameters.put('to', 'Int64', Math.max(...zones.map((zone) => zone.period.toMs)));
  const bucketOf = (moment: string): string =>
    `roundDown(transform(site_id, ${sites}, ${numbers}, toInt64(0)) * ${ZONE_STEP} + toUnixTimestamp64Milli(${moment}), ${cuts})`;
  const presentId = (rows: string): string =>
    `transform(concat(site_id, '\\0', ${rows}.session_id), moved.1, moved.2, ${rows}.session_id) AS session_id`;
  const sql = `WITH
(
  SELECT (groupArray(concat(site_id, '\\0', fragment_id)), groupArray(session_id))
  FROM
  (
    SELECT '' AS site_id, '' AS fragment_id, '' AS session_id
    UNION ALL
    SELECT toString(site_id) AS site_id, fragment_id, session_id FROM session_moves WHERE site_id IN ${sites}
  )
) AS moved,
hit AS
(
  SELECT site_id, ${presentId('records')}, sipHash64(visitor_id) AS visitor_key, type, ${bucketOf('timestamp')} AS bucket, bucket IN ${before} AS is_before
  FROM records
  WHERE outcome = 'row' AND site_id IN ${sites}
    AND ${rowsBetween(from, to)}
    AND bucket NOT IN ${notCounted}
    AND NOT startsWith(event_name, '$')${withBots ? '' : "\n    AND bot = ''"}
),
session AS
(
  SELECT site_id, ${presentId('session_parts')}, min(session_parts.started_at) AS started_at, max(session_parts.ended_at) AS ended_at,
    sum(session_parts.pageviews) AS pageviews, sum(session_parts.events) AS events
  FROM session_parts
  WHERE site_id IN ${sites}
  GROUP BY site_id, session_id
  HAVING max(visited)
),
visit AS
(
  SELECT site_id, session_id, started_at, pageviews = 1 AND events = 0 AS is_bounce, pageviews,
    intDiv(toUnixTimestamp64Milli(ended_at) - toUnixTimestamp64Milli(started_at), 1000) AS duration_seconds,
    ${bucketOf('started_at')} AS bucket, bucket IN ${before} AS is_before
  FROM session
  WHERE bucket NOT IN ${notCounted}
    AND (site_id, session_id, is_before) IN (SELECT site_id, session_id, is_before FROM hit)
),
begun AS
(
  SELECT site_id, is_before, bucket, ${BEGUN_OF_VISIT} FROM visit
)
SELECT site_id, is_before, is_total, bucket, ${sumFound()}
FROM
(
  SELECT site_id, is_before, grouping(bucket) AS is_total, bucket,
    ${COUNT_HITS}
  FROM hit
  GROUP BY GROUPING SETS ((site_id, is_before), (site_id, is_before, bucket))
  UNION ALL
  SELECT site_id, is_before, grouping(bucket) AS is_total, bucket,
    ${COUNT_VISITS}
  FROM begun
  GROUP BY GROUPING SETS ((site_id, is_before), (site_id, is_before, bucket))
) AS found
WHERE is_total OR NOT is_before
GROUP BY site_id, is_before, is_total, bucket
ORDER BY site_id, is_before, is_total, bucket`;
  return { sql, params: parameters.values };
}
