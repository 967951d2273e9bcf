import type { Analytics } from '@weir/ports/analytics';
import { dayOf } from '../reports/visits/visit-rows.ts';
import { type DaysToBuild, readCounted, readFacts, STATEMENT_ROWS_MAX } from './build-days.ts';
import { CONTENTS, type DayFact, LAST_CLOSED_DAY, validBuilds } from './built-run.ts';
import { DAY_MS } from './slot-sql.ts';

/** Slots (docs/glossary.md) are built only for sites with at least this many rows. The reports of a smaller site are fast without slots. */
export const SITE_ROWS_MIN = 100_000;
/** Days that are older than this are not built: reports read their rows. */
const DAYS_MAX = 1_100;
const DAYS_AT_ONCE_MAX = 31;

/** Selects the sites with at least `rowsMin` rows, the smallest site first. */
export async function sitesToBuild(
  analytics: Pick<Analytics, 'select'>,
  rowsMin: number = SITE_ROWS_MIN,
): Promise<readonly string[]> {
  const rows = await analytics.select<{ site: string }>(
    `SELECT toString(site_id) AS site FROM records WHERE outcome = 'row' AND bot = '' GROUP BY site_id
     HAVING count() >= {rows:UInt64} ORDER BY count(), site_id`,
    { rows: rowsMin },
  );
  return rows.map(({ site }) => site);
}

/**
 * Lists the closed days of a site that must be built: days without a valid build, and days whose number of rows has changed since the build.
 * After them come days with a valid build of an older version of Weir, whose slots contain less (`CONTENTS`).
 * Neighbouring days are in one group. The newest days of each kind come first. `isSkipped`: whether a day (`YYYY-MM-DD`) is left out.
 */
export async function daysToBuild(
  analytics: Pick<Analytics, 'select'>,
  siteId: string,
  isSkipped: (day: string) => boolean,
): Promise<readonly DaysToBuild[]> {
  const [last] = await analytics.select<{ day: number }>(`SELECT toUInt32(${LAST_CLOSED_DAY}) AS day`);
  const end = Number(last?.day) + 1;
  const closed = { siteId, fromMs: (end - DAYS_MAX) * DAY_MS, toMs: end * DAY_MS };
  const counted = await readCounted(analytics, closed);
  const valid = validBuilds(await readFacts(analytics, closed));
  const first = [...counted.keys()].sort()[0];
  if (first === undefined) return [];
  const firstDay = Date.parse(first) / DAY_MS;
  const skips = (day: number): boolean => isSkipped(dayOf(day * DAY_MS));
  const isRight = (day: number, hits: number): boolean => isBuilt(valid.get(day), hits);
  const isOld = (day: number): boolean => (valid.get(day)?.contents ?? 0) < CONTENTS;
  return [
    ...groups(siteId, firstDay, end, counted, (day, hits) => isRight(day, hits) || skips(day)),
    ...groups(siteId, firstDay, end, counted, (day, hits) => !isRight(day, hits) || !isOld(day) || skips(day)),
  ];
}

const isBuilt = (build: DayFact | undefined, hits: number): boolean => build !== undefined && build.hits === hits;

function groups(
  siteId: string,
  first: number,
  end: number,
  counted: ReadonlyMap<string, number>,
  isDone: (day: number, hits: number) => boolean,
): readonly DaysToBuild[] {
  const found: DaysToBuild[] = [];
  let group: DaysToBuild | undefined;
  for (let day = end - 1; day >= first; day--) {
    const rows = counted.get(dayOf(day * DAY_MS)) ?? 0;
    const fits =
      group !== undefined && group.rows + rows <= STATEMENT_ROWS_MAX && group.toMs / DAY_MS - day <= DAYS_AT_ONCE_MAX;
    if (isDone(day, rows) || !fits) {
      if (group !== undefined) found.push(group);
      group = undefined;
    }
    if (isDone(day, rows)) continue;
    const fromMs = day * DAY_MS;
    group =
      group === undefined
        ? { siteId, fromMs, toMs: fromMs + DAY_MS, rows }
        : { ...group, fromMs, rows: group.rows + rows };
  }
  return group === undefined ? found : [...found, group];
}
