/**
 * This file defines the columns of the view `sessions` as SQL over the rows of a session in `records`. The definitions must agree with the views
 * `session_rows` and `sessions` (the newest migration in schemas/clickhouse that creates each of them), because a report can use either the views or
 * this file.
 */
const BY_VISITOR = "source != 'server'";
const IS_COUNTED = "NOT startsWith(event_name, '$')";
const IS_VISIT = `${BY_VISITOR} AND ${IS_COUNTED}`;
const PLACE = 'bitOr(bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64), toUInt128(sipHash64(event_id)))';
const PLACE_AFTER_ALL = `bitOr(${PLACE}, bitShiftLeft(toUInt128(1), 112))`;
const STARTED = `min(if(${BY_VISITOR}, timestamp, toDateTime64('2200-01-01 00:00:00', 3, 'UTC')))`;
const ENDED = `max(if(${BY_VISITOR}, timestamp, toDateTime64(0, 3, 'UTC')))`;
const PAGEVIEWS = "countIf(type = 'pageview')";
const EVENTS = `countIf(type = 'event' AND ${IS_COUNTED})`;

const COLUMNS: Readonly<Record<string, string>> = {
  started_at: STARTED,
  duration_seconds: `intDiv(toUnixTimestamp64Milli(${ENDED}) - toUnixTimestamp64Milli(${STARTED}), 1000)`,
  pageviews: PAGEVIEWS,
  is_bounce: `${PAGEVIEWS} = 1 AND ${EVENTS} = 0`,
  entry_path: `argMinIf(pathname, if(type = 'pageview', ${PLACE}, ${PLACE_AFTER_ALL}), ${IS_VISIT})`,
  exit_path: `argMaxIf(pathname, if(type = 'pageview', ${PLACE_AFTER_ALL}, ${PLACE}), ${IS_VISIT})`,
};

/** The HAVING condition for a session that is a visit: it has a counted row that no server has sent. */
export const IS_SESSION = `max(${IS_VISIT})`;

export function rowVisitColumn(name: string): string {
  return `${COLUMNS[name] ?? `argMinIf(replaceAll(toString(records.${name}), '\\0', ''), ${PLACE}, ${IS_VISIT})`} AS ${name}`;
}
