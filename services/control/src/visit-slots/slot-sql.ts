import { UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { IS_SESSION, rowVisitColumn } from '../reports/visits/row-visits.ts';
import { FIND_MOVED, MOVED_KEY, MOVED_KEYS, NO_KEY, OF_SITE } from '../reports/visits/visit-rows.ts';
import { rowsBetween } from '../rows-between.ts';
import { namesOf, pairsOf } from './property-sql.ts';

/** SQL of the rollup `visit_slots` (docs/decisions/0047). All days are UTC days. */

export const DAY_MS = 24 * 3600_000;

/** Consecutive UTC days of a site, from `fromMs` (inclusive) to `toMs` (exclusive). Both are midnights, in Unix milliseconds. */
export interface SiteDays {
  readonly siteId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SlotBuild extends SiteDays {
  /** The days from `fromMs` to `toMs` that are built: some of them may be left out. */
  readonly days: readonly string[];
  /** The number of the build of the day at `fromMs`. The next day has the next number. */
  readonly firstBuild: number;
  /** A large build is divided into `shares` statements. This is the number of the statement, from 0. */
  readonly share: number;
  readonly shares: number;
  /** The names of the custom properties whose values the slots contain. */
  readonly properties: readonly string[];
}

const VISIT_VALUES = ['entry_path', 'exit_path', 'traffic_source', 'channel', 'referrer_domain', ...UTM_TAGS];
const ROW_VALUES = [
  ...['country', 'region', 'city', 'language', 'browser', 'browser_version', 'os', 'os_version', 'device_type'],
  ...['hostname', 'origin'],
];
export const SLOT_COLUMNS: readonly string[] = [
  ...['site_id', 'day', 'build', 'slot', 'began', 'visitor_key', 'session_key', 'several', 'hits', 'begun'],
  ...['bounces', 'seconds', 'views', 'pageviews', 'events'],
  ...VISIT_VALUES,
  ...ROW_VALUES,
  ...['pages', 'page_views', 'page_events', 'page_visits', 'names', 'name_counts'],
  ...['property_names', 'property_values', 'property_views', 'property_events'],
];
/** The visit columns that `records` does not have. */
const ONLY_OF_VISITS = new Set(['entry_path', 'exit_path']);
/** The condition for the rows of a site that slots contain: no bots, and no events of Weir itself. */
export const COUNTED = `${OF_SITE} AND bot = '' AND NOT startsWith(event_name, '$')`;
const PAIRS = '{pairs}';
const NAMES = '{names}';
const halfHourOf = (time: string): string => `toStartOfInterval(toDateTime(${time}, 'UTC'), INTERVAL 30 MINUTE)`;
const ROW_COLUMNS = ROW_VALUES.map((name) => (name === 'origin' ? 'source' : name));
/**
 * A hash of the visit, the path and the slot of a row. For each visit and path, the slot with the lowest hash is chosen: it counts the visit in a
 * breakdown by page (`page_visits`).
 */
const PATH_KEY = `cityHash64(${[MOVED_KEY, 'pathname', halfHourOf('timestamp'), 'records.visitor_key', ...ROW_COLUMNS.map((name) => `records.${name}`)].join(', ')})`;
/** Limits below those of a report (run-user-query.ts), because builds run beside reports. */
export const BUILD_SETTINGS =
  'SETTINGS max_threads = 1, max_memory_usage = 500000000, max_bytes_before_external_group_by = 200000000, max_bytes_before_external_sort = 200000000';

/**
 * The statement that inserts the slots (docs/glossary.md) of `days`. A visit with rows on these days must not have rows on more than two days
 * (`skippedDaysSql`). If a visit continues on the next day, its first day also gets slots for the rows of the next day. A report of the first day can
 * then filter by these rows.
 */
export function insertSlotsSql({ days, firstBuild, share, shares, properties, ...site }: SlotBuild): string {
  const wanted = `(${days.map((day) => `toDate('${day}')`).join(', ')})`;
  const inShare = (key: string): string => (shares === 1 ? '1' : `${key} % ${shares} = ${share}`);
  const sum = (type: string): string => `toUInt32(countIf(type = '${type}'))`;
  const select = `WITH
  ${FIND_MOVED} AS moved,
  ${MOVED_KEYS},
  visit AS
  (
    SELECT ${[`${MOVED_KEY} AS visit_key`, ...['started_at', 'is_bounce', 'duration_seconds', 'pageviews', ...VISIT_VALUES].map(rowVisitColumn)].join(',\n      ')}
    FROM records
    WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY}
      AND ${rowsFrom(-1)} AND ${inShare('visit_key')}
    GROUP BY visit_key
    HAVING ${IS_SESSION}
  ),
  chosen AS
  (
    SELECT min(${PATH_KEY}) AS path_key
    FROM records
    WHERE ${COUNTED} AND records.session_key != ${NO_KEY} AND ${rowsFrom(0)} AND ${inShare(MOVED_KEY)}
    GROUP BY ${MOVED_KEY}, sipHash64(pathname)
  ),
  hit AS
  (
    SELECT ${MOVED_KEY} AS hit_key, records.visitor_key AS visitor_key, toDate(timestamp, 'UTC') AS hit_day,
      ${halfHourOf('timestamp')} AS slot, type, event_name, pathname,
      ${PATH_KEY} IN (SELECT path_key FROM chosen) AS is_chosen,
      ${PAIRS} AS pairs,
      ${VISIT_VALUES.filter((name) => !ONLY_OF_VISITS.has(name))
        .map((name) => `toString(records.${name}) AS own_${name}`)
        .join(', ')},
      ${ROW_VALUES.map((name) => (name === 'origin' ? 'source AS origin' : name)).join(', ')}
    FROM records
    WHERE ${COUNTED} AND ${rowsFrom(0)} AND ${inShare(`if(records.session_key = ${NO_KEY}, records.visitor_key, hit_key)`)}
  ),
  joined AS
  (
    SELECT hit.*, visit.visit_key AS visit_key, toDate(visit.started_at, 'UTC') AS begun_day,
      if(visit.visit_key = 0, toDateTime(0, 'UTC'), ${halfHourOf('visit.started_at')}) AS began,
      visit.is_bounce AS is_bounce, visit.duration_seconds AS duration_seconds, visit.pageviews AS visit_views,
      ${VISIT_VALUES.map((name) => `if(visit.visit_key = 0, ${ONLY_OF_VISITS.has(name) ? "''" : `own_${name}`}, visit.${name}) AS of_${name}`).join(',\n      ')}
    FROM hit LEFT JOIN visit ON visit.visit_key = hit.hit_key
  ),
  grouped AS
  (
    SELECT day, copy.2 AS hits, copy.3 AS has_begun, slot, began, visitor_key, visit_key,
      any(is_bounce) AS bounce, any(duration_seconds) AS duration, any(visit_views) AS of_views,
      ${VISIT_VALUES.map((name) => `of_${name}`).join(', ')}, ${ROW_VALUES.join(', ')},
      ${sum('pageview')} AS pageview_count, ${sum('event')} AS event_count,
      sumMap([toString(pathname)], [toUInt32(type = 'pageview')], [toUInt32(type = 'event')], [toUInt32(is_chosen AND copy.3)]) AS by_path,
      sumMapIf([toString(event_name)], [toUInt32(1)], type = 'event') AS by_name,
      sumMap(pairs, arrayMap(each -> toUInt32(type = 'pageview'), pairs), arrayMap(each -> toUInt32(type = 'event'), pairs)) AS by_pair
    FROM joined
    ARRAY JOIN if(visit_key != 0 AND begun_day < hit_day,
      [(hit_day, true, false), (begun_day, false, true)],
      [(hit_day, true, visit_key != 0)]) AS copy
    WHERE (copy.1 AS day) IN ${wanted}
    GROUP BY day, hits, has_begun, slot, began, visitor_key, visit_key, ${VISIT_VALUES.map((name) => `of_${name}`).join(', ')}, ${ROW_VALUES.join(', ')}
  )
SELECT {site:String} AS site_id, day, ${firstBuild} + toUInt64(day - ${dayAt('from')}) AS build, slot, began, visitor_key,
  if(several, visit_key, 0) AS session_key,
  has_begun AND count() OVER visits > 1 AS several,
  hits, multiIf(NOT has_begun, 0, row_number() OVER visits = 1, 2, 1) AS begun,
  if(has_begun, toUInt32(bounce), 0) AS bounces, if(has_begun, toUInt32(duration), 0) AS seconds, if(has_begun, toUInt32(of_views), 0) AS views,
  pageview_count AS pageviews, event_count AS events,
  ${VISIT_VALUES.map((name) => `of_${name} AS ${name}`).join(', ')}, ${ROW_VALUES.join(', ')},
  by_path.1 AS pages, by_path.2 AS page_views, by_path.3 AS page_events, arrayMap(n -> n > 0, by_path.4) AS page_visits, by_name.1 AS names, by_name.2 AS name_counts,
  ${NAMES} AS property_names, by_pair.1.2 AS property_values, by_pair.2 AS property_views, by_pair.3 AS property_events
FROM grouped
WINDOW visits AS (PARTITION BY has_begun, day, if(has_begun, visit_key, cityHash64(slot, visitor_key)))`;
  // The names of properties are the last replacement, and both are replaced at once, because a name can look like a parameter. The function keeps
  // names with `$&` as they are.
  const statement = withValues(select, site).replaceAll(/\{(?:pairs|names)\}/g, (part) =>
    part === PAIRS ? pairsOf(properties) : namesOf('by_pair.1.1', properties),
  );
  return `INSERT INTO visit_slots (${SLOT_COLUMNS.join(', ')}) ${statement} ${BUILD_SETTINGS}`;
}

/**
 * Selects the days that cannot be built:
 * - the days of a visit that has rows on more than two days,
 * - the days of a visit with a server event on the day before the visit began,
 * - the days near rows that retention has removed,
 * - the days near a visit that a check, an erasure or retention has added to `visits_computed` (`visitSourceOf` in visit-source.ts).
 */
export function skippedDaysSql(site: SiteDays): string {
  return `${withValues(
    `WITH
  ${FIND_MOVED} AS moved,
  ${MOVED_KEYS}
SELECT DISTINCT toString(skipped) AS day FROM
(
  SELECT arrayJoin(arrayMap(n -> first_day + n, range(toUInt32(last_day - first_day + 1)))) AS skipped FROM
  (
    SELECT ${MOVED_KEY} AS visit_key, min(toDate(timestamp, 'UTC')) AS first_day, max(toDate(timestamp, 'UTC')) AS last_day
    FROM records
    WHERE ${OF_SITE} AND bot = '' AND records.session_key != ${NO_KEY} AND ${rowsFrom(-2)}
    GROUP BY visit_key
    HAVING last_day > first_day + 1 OR (${IS_SESSION} AND minIf(toDate(timestamp, 'UTC'), source != 'server') > first_day)
  )
  UNION ALL
  SELECT arrayJoin([day - 2, day - 1, day, day + 1, day + 2]) AS skipped FROM
  (
    SELECT day FROM visits_computed
    WHERE site_id = {site:String} AND day >= ${dayAt('from')} - 2 AND day <= ${dayAt('to')} + 2
    GROUP BY day, session_id HAVING NOT min(by_row)
    UNION ALL
    SELECT toDate(timestamp, 'UTC') AS day FROM records
    WHERE site_id = {site:String} AND outcome = 'expired' AND ${rowsFrom(-2)}
    GROUP BY day
  )
)
WHERE skipped >= ${dayAt('from')} AND skipped < ${dayAt('to')}`,
    site,
  )} ${BUILD_SETTINGS}`;
}

/**
 * The condition for rows of the days and of days near them. `days` is 0 or negative: its absolute value is the number of further days before, and
 * also after, but at least one day after.
 */
function rowsFrom(days: number): string {
  const after = Math.max(1, -days) * DAY_MS;
  return rowsBetween(`{from:Int64} - ${-days * DAY_MS}`, `{to:Int64} + ${after}`);
}

const dayAt = (end: 'from' | 'to'): string => `toDate(fromUnixTimestamp64Milli({${end}:Int64}), 'UTC')`;

/** Replaces the parameters by their values, because statements that change tables cannot have parameters. Site IDs need no escaping in SQL. */
function withValues(sql: string, { siteId, fromMs, toMs }: SiteDays): string {
  return sql
    .replaceAll('{site:String}', `'${siteId}'`)
    .replaceAll('{from:Int64}', `toInt64(${fromMs})`)
    .replaceAll('{to:Int64}', `toInt64(${toMs})`);
}
