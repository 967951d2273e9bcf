import { VISIT_ATTRIBUTES } from '@weir/domain/records/records-columns';
import type { Analytics } from '@weir/ports/analytics';
import { rowsBetween } from '../rows-between.ts';
import { DAY_MS } from '../visit-slots/slot-sql.ts';

/**
 * A visit is compared only if its last row was received at least this long ago: while an insert is running, its materialized views may lack some of
 * the rows.
 */
const QUIET_MINUTES = 10;
/** Pairs: a column of the stamp (docs/glossary.md), and the column of `sessions` whose value it must have. */
const ATTRIBUTES = [['visit_started', 'started_at'], ...VISIT_ATTRIBUTES] as const;

/**
 * Compares the stamps of the visits that have rows on this UTC day (`YYYY-MM-DD`) with `sessions`. For each visit that differs, inserts rows into
 * `visits_computed`, which flag the visit: reports on its days then read all visits from `sessions`. Resolves with the number of visits that were
 * flagged. Reads the rows of the day, of the day before and of the two days after it. Repeating the call is safe.
 */
export async function flagDifferingVisits(
  analytics: Pick<Analytics, 'select' | 'change'>,
  siteId: string,
  day: string,
): Promise<number> {
  const differing = differingVisits(siteId, day);
  const [found] = await analytics.select<Record<'visits' | 'since' | 'until', number | string>>(
    `SELECT count() AS visits, toUnixTimestamp64Milli(min(since)) AS since, toUnixTimestamp64Milli(max(until)) AS until FROM (${differing})`,
  );
  const visits = Number(found?.visits ?? 0);
  if (visits === 0) return 0;
  await analytics.change(
    `INSERT INTO visits_computed (site_id, day, session_id)
     SELECT DISTINCT site_id, toDate(timestamp, 'UTC'), session_id FROM event_rows
     WHERE site_id = '${siteId}' AND ${rowsBetween(String(Number(found?.since)), String(Number(found?.until) + 1))}
       AND session_id IN (SELECT session_id FROM (${differing}))`,
  );
  return visits;
}

/** Selects the `session_id` of each visit that differs, and the times `since` and `until` between which all rows of the visit are. */
function differingVisits(siteId: string, day: string): string {
  const site = `site_id = '${siteId}'`;
  const startMs = Date.parse(`${day}T00:00:00Z`);
  const rows = (fromDay: number, toDay: number): string =>
    `${site} AND ${rowsBetween(String(startMs + fromDay * DAY_MS), String(startMs + toDay * DAY_MS))} AND session_id != '' AND bot = ''`;
  const stamped = `SELECT session_id, min(timestamp) AS first, max(timestamp) AS last, countIf(visit_stamp != 1) AS others,
      sum(visit_new) AS visits, sum(visit_bounces) AS bounces, sum(visit_seconds) AS seconds,
      groupUniqArrayIf(2)((${ATTRIBUTES.map(([column]) => `toString(${column})`).join(', ')}), NOT startsWith(event_name, '$')) AS attributes
    FROM event_rows WHERE ${rows(-1, 3)}
    GROUP BY session_id
    HAVING countIf(visit_stamp = 1) > 0 AND countIf(toDate(timestamp, 'UTC') = '${day}') > 0
      AND max(received_at) < now64(3) - INTERVAL ${QUIET_MINUTES} MINUTE`;
  const stored = `SELECT session_id, visitor_id, started_at, ended_at, is_bounce, duration_seconds,
      [(${ATTRIBUTES.map(([, column]) => `toString(${column})`).join(', ')})] AS stored_attributes
    FROM sessions WHERE ${site} AND session_id IN (SELECT session_id FROM event_rows WHERE ${rows(0, 1)})`;
  return `SELECT session_id, if(visitor_id = '', first, least(first, started_at)) AS since, if(visitor_id = '', last, greatest(last, ended_at)) AS until
    FROM (${stamped}) AS stamped LEFT JOIN (${stored}) AS stored USING (session_id)
    WHERE session_id NOT IN (SELECT session_id FROM visits_computed WHERE ${site} AND day >= toDate('${day}') - 2 AND day <= toDate('${day}') + 2)
      AND (others > 0 OR if(visitor_id = '',
        (visits, bounces, seconds) != (0, 0, 0),
        (visits, bounces, seconds, attributes) != (1, is_bounce, duration_seconds, stored_attributes)))`;
}
