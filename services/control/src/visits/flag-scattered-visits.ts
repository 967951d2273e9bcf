import type { Analytics } from '@weir/ports/analytics';
import { SPAN_MS } from '../reports/visits/visit-rows.ts';

/** The rows whose visits one statement compares. An imported dump can have many millions of rows. */
const ROWS_PER_BLOCK = 1_000_000;

/**
 * Inserts visits with rows far apart (`SPAN_MS`) into `visits_computed`, on the days of all their rows. Reports on these days then read all visits
 * from `sessions`. The enricher flags only the last day of such a visit: a server event can name a session of many days ago, and only the row of
 * this event flags the visit (its `visit_stamp` is 2). A report of the first day does not read that row, and would count the visit as a bounce.
 * Visits of dumps, whose rows have no stamp (docs/glossary.md), are checked too. `rows`: an SQL condition for the rows of `records` whose visits
 * are checked. Resolves with the number of visits that were flagged. Repeating the call is safe.
 */
export async function flagScatteredVisits(
  analytics: Pick<Analytics, 'select' | 'change'>,
  rows: string,
): Promise<number> {
  const candidates = `outcome = 'row' AND bot = '' AND session_id != '' AND visit_stamp != 1 AND ${rows}`;
  const [found] = await analytics.select<{ n: number | string }>(
    `SELECT count() AS n FROM records WHERE ${candidates}`,
  );
  const blocks = Math.ceil(Number(found?.n ?? 0) / ROWS_PER_BLOCK);
  let flagged = 0;
  for (let block = 0; block < blocks; block++) {
    flagged += await flagBlock(analytics, `${candidates} AND session_key % ${blocks} = ${block}`);
  }
  return flagged;
}

async function flagBlock(analytics: Pick<Analytics, 'select' | 'change'>, candidates: string): Promise<number> {
  // Compares by day, because a visit that is already flagged on its earlier days can get a row on another day.
  const days = `SELECT site_id, day, session_id FROM
      (
        SELECT site_id, session_id, arrayJoin(groupUniqArray(toDate(timestamp, 'UTC'))) AS day
        FROM records
        WHERE outcome = 'row' AND bot = '' AND session_id != '' AND session_key IN (SELECT session_key FROM records WHERE ${candidates})
        GROUP BY site_id, session_id
        HAVING toUnixTimestamp64Milli(max(timestamp)) - toUnixTimestamp64Milli(min(timestamp)) > ${SPAN_MS}
      )
    WHERE (site_id, day, session_id) NOT IN (SELECT site_id, day, session_id FROM visits_computed WHERE NOT by_row)`;
  const [found] = await analytics.select<{ visits: number | string }>(
    `SELECT uniqExact(site_id, session_id) AS visits FROM (${days})`,
  );
  const visits = Number(found?.visits ?? 0);
  if (visits > 0) await analytics.change(`INSERT INTO visits_computed (site_id, day, session_id) ${days}`);
  return visits;
}
