import type { Row, WeirClient } from '@weir/testkit/weir-client';

/** The numbers of docs/stats.md. `numbersByHand` computes them from `events` by SQL that shares no code with the reports. */
export interface Numbers {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  readonly bounce_rate: number | null;
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

/**
 * SQL for the label of a bucket, with ClickHouse's calendar functions and time zone data. The reports use other code and other data, so a
 * comparison finds mistakes. `m` is the column with the time.
 */
export const LABELS = {
  hour: "formatDateTime(m, '%F %H', {zone:String}) || ' ' || toString(timeZoneOffset(toTimeZone(m, {zone:String})))",
  day: 'toString(toDate(m, {zone:String}))',
  week: 'toString(toMonday(m, {zone:String}))',
  month: "formatDateTime(m, '%Y-%m', {zone:String})",
  total: "'total'",
} as const;

export interface Asked {
  readonly site: string;
  readonly zone: string;
  /** A time in ISO 8601, in UTC. */
  readonly from: string;
  readonly to: string;
  /** A condition on `events`. It must select all rows of a visit or none, because the numbers of a visit are computed from all of its rows. */
  readonly where?: string;
}

/** Returns the numbers of each bucket, by its label. Buckets without rows are missing. */
export async function numbersByHand(
  client: WeirClient,
  { site, zone, from, to, where = '1' }: Asked,
  label: keyof typeof LABELS,
): Promise<Map<string, Numbers>> {
  const params = { site, zone, from: from.replace('Z', ''), to: to.replace('Z', '') };
  const within = (moment: string): string =>
    `${moment} >= toDateTime64({from:String}, 3, 'UTC') AND ${moment} < toDateTime64({to:String}, 3, 'UTC')`;
  const hits = await client.sql(
    `SELECT ${LABELS[label]} AS label, count(DISTINCT nullIf(visitor_id, '')) AS visitors,
       sum(type = 'pageview') AS pageviews, sum(type = 'event') AS events
     FROM (SELECT timestamp AS m, * FROM events WHERE site_id = {site:String} AND bot = '' AND event_name NOT LIKE '$%' AND (${where}))
     WHERE ${within('m')} GROUP BY label`,
    params,
  );
  const visits = await client.sql(
    `SELECT ${LABELS[label]} AS label, count() AS visits, avg(views = 1 AND others = 0) AS bounce_rate,
       avg(intDiv(toUnixTimestamp64Milli(last) - toUnixTimestamp64Milli(m), 1000)) AS visit_duration,
       avg(views) AS views_per_visit
     FROM
     (
       SELECT session_id, minIf(timestamp, source != 'server') AS m, maxIf(timestamp, source != 'server') AS last,
         sum(type = 'pageview') AS views, sum(type = 'event' AND event_name NOT LIKE '$%') AS others
       FROM events WHERE site_id = {site:String} AND bot = '' AND session_id != '' AND (${where})
       GROUP BY session_id HAVING sum(source != 'server' AND event_name NOT LIKE '$%') > 0
     )
     WHERE ${within('m')} GROUP BY label`,
    params,
  );
  const found = new Map<string, Numbers>();
  for (const name of new Set([...hits, ...visits].map((row) => String(row.label)))) {
    const of = (rows: readonly Row[]): Row => rows.find((row) => row.label === name) ?? {};
    const [hit, visit] = [of(hits), of(visits)];
    const mean = (value: unknown, decimals: number) => (value === undefined ? null : rounded(Number(value), decimals));
    found.set(name, {
      visitors: Number(hit.visitors ?? 0),
      visits: Number(visit.visits ?? 0),
      pageviews: Number(hit.pageviews ?? 0),
      events: Number(hit.events ?? 0),
      bounce_rate: mean(visit.bounce_rate, 4),
      visit_duration: mean(visit.visit_duration, 2),
      views_per_visit: mean(visit.views_per_visit, 2),
    });
  }
  return found;
}

export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** The label that `LABELS` gives to the bucket that starts at this time. */
export function labelOf(start: string, label: Exclude<keyof typeof LABELS, 'total' | 'week'>): string {
  const [, date = '', hour = '', sign = '', hours = '', minutes = ''] =
    /^([\d-]{10})T(\d\d):\d\d:\d\d(?:\.\d+)?([+-])(\d\d):(\d\d)$/.exec(start) ?? [];
  if (label === 'day') return date;
  if (label === 'month') return date.slice(0, 7);
  return `${date} ${hour} ${(Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)}`;
}
