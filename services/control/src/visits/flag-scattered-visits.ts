import type { Analytics } from '@weir/ports/analytics';
import { SPAN_MS } from '../reports/visits/visit-rows.ts';

/**
 * Flags visits with rows far apart in `visits_computed`, on the days of all their rows, so that reports on these days read all visits from
 * `sessions`. The enricher does not flag the earlier days of such a visit: a server event can name a session of many days ago, and then only the
 * row of the event has the stamp 2 (docs/glossary.md). A report of the first day does not read that row, so it would call the visit a bounce.
 * Compares the visits with such a row that was received from `fromMs` on (SQL of Unix milliseconds). Resolves with the number of visits that were
 * flagged. Repeating the call is safe.
 */
export async function flagScatteredVisits(
  analytics: Pick<Analytics, 'select' | 'change'>,
  fromMs: string,
): Promise<number> {
  // Compares days, because a visit that is flagged on its earlier days can get a row on a further day.
  const days = `SELECT site_id, day, session_id FROM
      (
        SELECT site_id, session_id, arrayJoin(groupUniqArray(toDate(timestamp, 'UTC'))) AS day
        FROM records
        WHERE outcome = 'row' AND bot = '' AND session_id != '' AND session_key IN
          (
            SELECT session_key FROM records
            WHERE outcome = 'row' AND visit_stamp = 2 AND received_at >= fromUnixTimestamp64Milli(${fromMs})
          )
        GROUP BY site_id, session_id
        HAVING toUnixTimestamp64Milli(max(timestamp)) - toUnixTimestamp64Milli(min(timestamp)) > ${SPAN_MS}
      )
    WHERE (site_id, day, session_id) NOT IN (SELECT site_id, day, session_id FROM visits_computed WHERE NOT by_row)`;
  const [found] = await analytics.select<{ visits: number | string }>(
    `SELECT uniqExact(site_id, session_id) AS visits FROM (${days})`,
  );
  const visits = Number(found?.visits ?? 0);
  if (visits === 0) return 0;
  await analytics.change(`INSERT INTO visits_computed (site_id, day, session_id) ${days}`);
  return visits;
}
