import { rowsText } from '../../answers/rows-text.ts';
import type { ReportTables } from '../../steady-tables.ts';
import {
  buildsFor,
  canHaveRun,
  DAYS,
  type DayFact,
  dayFact,
  NEAR_DAYS,
  propertyValues,
  selectFacts,
} from '../../visit-slots/built-run.ts';
import { canHaveMonths, MONTHS } from '../../visit-slots/month-run.ts';
import { DAY_MS } from '../../visit-slots/slot-sql.ts';
import type { AskedScope } from '../report-sql.ts';
import { dayOf, EXPIRED, hoursOf, movedHours, UNSTAMPED } from './visit-rows.ts';

/**
 * The facts that a report needs before its statement: which of its days can be read from slots (docs/glossary.md), and which kinds of
 * unusual rows the site has.
 */
export interface PeriodFacts {
  /**
   * The facts of the days near the period. For the kind `moved`, the field `late` is the number of rows of `moved_hours` on this day. The kinds
   * `expired` and `unstamped` say that the site has at least one such row, on any day.
   */
  readonly days: readonly DayFact[];
  /**
   * A text that changes when sessions near the period are moved, or when visits are added to `visits_computed`, for example because they have become
   * longer than a day. Undefined if the site has expired rows, or rows without a stamp (docs/glossary.md): then sessions and visits can change while
   * the facts stay the same.
   */
  readonly version: string | undefined;
}

const fact = (kind: DayFact['kind'] | 'computed', day: string, hits: string, late: string): string =>
  `SELECT '${kind}' AS kind, ${day} AS day, 0 AS build, 0 AS slots, ${hits} AS hits, ${late} AS late, 0 AS contents`;
// The conditions on `records` have no time, so that ClickHouse evaluates them once for each part of the table (its query condition cache).
const anyRow = (kind: DayFact['kind'], conditions: string): string =>
  `SELECT * FROM (${fact(kind, 'toDate(0)', '0', '0')} FROM records WHERE ${conditions} LIMIT 1)`;

/**
 * The statement `computed` reads `visits_computed`. Its `hits` is a checksum of the visits. Its `late` is the number of visits that
 * a check, an erasure or retention has added, and not one of their rows (`by_row`). In the statement `moved`, `hits` is a checksum
 * of the rows of `moved_hours` and of the names of their parts. A second late hit of a visitor in the same hour adds the same row again, and a merge
 * then removes it. Only the name of the part still shows that there was an insert.
 */
const UNUSUAL: readonly string[] = [
  `${fact('computed', 'day', 'sum(checksum)', 'countIf(NOT is_by_row)')} FROM
  (
    SELECT day, min(by_row) AS is_by_row, sum(cityHash64(day, session_id, by_row)) AS checksum
    FROM visits_computed WHERE ${DAYS}
    GROUP BY day, session_id
  ) GROUP BY day`,
  `${fact('moved', 'toDate(hour)', 'sum(cityHash64(visitor_id, hour, _part))', 'count()')} FROM ${movedHours(false)}
  GROUP BY day`,
  anyRow('expired', EXPIRED),
  anyRow('unstamped', UNSTAMPED),
];

/**
 * One statement reads all facts, because each statement takes some milliseconds. Reports on the same hours share its answer if they ask at the same
 * time, as the reports of a dashboard do. If the last two answers were equal, a report begins before the next answer (`steadyQuery`). `properties`:
 * the names of the custom properties that the report uses. The answer then has only builds of days on which the slots can answer this report.
 */
export async function readPeriodFacts(
  { siteId, period }: Pick<AskedScope, 'siteId' | 'period'>,
  { userQuery, steadyQuery = userQuery }: ReportTables,
  properties: readonly string[] = [],
): Promise<PeriodFacts> {
  const { fromMs, toMs } = period;
  const withBuilds = canHaveRun(period);
  const facts = [...(withBuilds ? buildsFor(properties) : []), ...(canHaveMonths(period) ? [MONTHS] : []), ...UNUSUAL];
  const { rows } = await steadyQuery(selectFacts(facts), {
    site: siteId,
    ...(withBuilds ? propertyValues(properties) : {}),
    ...hoursOf(period),
    first_day: dayOf(fromMs - NEAR_DAYS * DAY_MS),
    last_day: dayOf(toMs + NEAR_DAYS * DAY_MS),
  });
  const days = rows.flatMap((row) => {
    if (row.kind !== 'computed') return [dayFact(row)];
    return Number(row.late) > 0 ? [dayFact({ ...row, kind: 'flag' })] : [];
  });
  const isShared = !days.some(({ kind }) => kind === 'expired' || kind === 'unstamped');
  return { days, version: isShared ? rowsText(rows) : undefined };
}
