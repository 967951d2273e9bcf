import { dayOf, HOUR_MS, NO_KEY } from '../reports/visits/visit-rows.ts';
import type { ReportTables } from '../steady-tables.ts';
import type { BuildContext } from './build-days.ts';
import { type DayFact, dayFact, dayFactsWith, validBuilds } from './built-run.ts';
import {
  daysHash,
  MONTH_DIMENSIONS,
  MONTH_SKETCH,
  MONTH_SLOTS_MIN,
  MONTHS,
  type Month,
  monthBuild,
  monthsBetween,
} from './month-run.ts';
import { BUILD_SETTINGS, DAY_MS } from './slot-sql.ts';

const COUNTS = ['pageviews', 'events', 'visits', 'bounces', 'seconds', 'views'];
const COLUMNS = ['site_id', 'dimension', 'month', 'build', 'days', 'value', 'visitors', ...COUNTS];
/** A build of more slots is divided into several statements, each of a part of the values. This limits the memory. */
const STATEMENT_SLOTS_MAX = 2_000_000;
/** The numbers that one build can have in each millisecond, so that two processes that build the same month rarely get the same number. */
const BUILDS_PER_MS = 1_000;

/** A month whose days have valid builds. */
export interface MonthToBuild extends Month {
  readonly siteId: string;
  /** The builds of its days, and their hash (`daysHash`). */
  readonly builds: readonly number[];
  readonly hash: number;
  readonly slots: number;
  /** The number of rows that reports count. */
  readonly hits: number;
}

/** The months whose days all have valid builds, the newest first. `build`: the number of the valid build of the month, if there is one. */
async function readMonths(
  select: (
    query: string,
    params: Readonly<Record<string, unknown>>,
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  siteId: string,
): Promise<{
  readonly months: readonly (MonthToBuild & { readonly build: number | undefined })[];
  readonly slots: number;
}> {
  const all = { site: siteId, first_day: '1970-01-01', last_day: '2149-06-06' };
  const facts = (await select(dayFactsWith([MONTHS]), all)).map(dayFact);
  const valid = validBuilds(facts);
  const days = [...valid.keys()].sort((a, b) => a - b);
  const slotsOf = (builds: Iterable<DayFact>): number => [...builds].reduce((sum, { slots }) => sum + slots, 0);
  const [first, last] = [days[0], days.at(-1)];
  const months = first === undefined || last === undefined ? [] : monthsBetween(first, last + 1).toReversed();
  return {
    slots: slotsOf(valid.values()),
    months: months.flatMap((month) => {
      const hash = daysHash(month, valid);
      if (hash === undefined) return [];
      const built = days.filter((day) => day >= month.first && day < month.end).map((day) => valid.get(day) as DayFact);
      const builds = built.map(({ build }) => build);
      const hits = built.reduce((sum, day) => sum + day.hits, 0);
      return [{ ...month, siteId, hash, builds, hits, slots: slotsOf(built), build: monthBuild(facts, month, hash) }];
    }),
  };
}

/**
 * Lists the months of a site that must be built, the newest first: all days of the month have valid builds, and no build of the month was made from
 * exactly these builds. Lists none for a site with at most `slotsMin` slots (docs/glossary.md).
 */
export async function monthsToBuild(
  { analytics }: Pick<BuildContext, 'analytics'>,
  siteId: string,
  slotsMin: number = MONTH_SLOTS_MIN,
): Promise<readonly MonthToBuild[]> {
  const { months, slots } = await readMonths((query, params) => analytics.select(query, params), siteId);
  return slots <= slotsMin ? [] : months.filter(({ build }) => build === undefined);
}

/**
 * Compares a part of the values of the month of this day with its slots. Resolves with the dimensions that differ, or with undefined if the month has
 * no valid build. `dayMs`: Unix milliseconds. `random`, from 0 to below 1, chooses the part.
 */
export async function compareMonth(
  siteId: string,
  dayMs: number,
  { userQuery }: Pick<ReportTables, 'userQuery'>,
  random = Math.random(),
  dimensions: readonly string[] = MONTH_DIMENSIONS,
): Promise<readonly string[] | undefined> {
  const { months } = await readMonths(async (query, params) => (await userQuery(query, params)).rows, siteId);
  const month = months.find(({ first, end }) => first <= dayMs / DAY_MS && dayMs / DAY_MS < end);
  if (month?.build === undefined) return undefined;
  const shares = sharesOf(month);
  const inShare = shareCondition(shares, Math.floor(random * shares));
  const differing: string[] = [];
  for (const dimension of dimensions) {
    const stored = `SELECT * FROM visit_months
  WHERE site_id = '${siteId}' AND dimension = '${dimension}' AND month = '${dateOf(month.first)}' AND build = ${month.build} AND ${inShare('value')}`;
    const sums: string[] = [];
    for (const rows of [stored, monthSums(month, dimension, month.build, inShare)]) {
      const sum = `sum(cityHash64(value, finalizeAggregation(visitors), ${COUNTS.join(', ')}))`;
      sums.push(
        JSON.stringify((await userQuery(`SELECT count() AS n, toString(${sum}) AS checksum FROM (${rows})`, {})).rows),
      );
    }
    if (sums[0] !== sums[1]) differing.push(dimension);
  }
  return differing;
}

const sharesOf = ({ slots }: MonthToBuild): number => Math.max(1, Math.ceil(slots / STATEMENT_SLOTS_MAX));
const shareCondition =
  (shares: number, share: number) =>
  (value: string): string =>
    shares === 1 ? '1' : `sipHash64(${value}) % ${shares} = ${share}`;

/**
 * Builds a month: inserts its rows, and then the row which says that they are complete. If the build fails in between, or the process is killed, it
 * leaves rows that no report reads. `removeOldMonths` deletes them. Resolves with false if the rows are not as they must be.
 */
export async function buildMonth(
  { analytics, clock, assertUnchanged, change }: BuildContext,
  month: MonthToBuild,
  random: () => number = Math.random,
): Promise<boolean> {
  const build = clock() * BUILDS_PER_MS + Math.floor(random() * BUILDS_PER_MS);
  const shares = sharesOf(month);
  for (const dimension of MONTH_DIMENSIONS) {
    for (let share = 0; share < shares; share++) {
      assertUnchanged();
      await change(
        `INSERT INTO visit_months (${COLUMNS.join(', ')}) ${monthSums(month, dimension, build, shareCondition(shares, share))} ${BUILD_SETTINGS}`,
      );
    }
  }
  const sums = await analytics.select<{ repeated: number | string; hits: number | string }>(
    `SELECT dimension, count() - uniqExact(value) AS repeated, sum(pageviews + events) AS hits FROM visit_months
     WHERE site_id = {site:String} AND month = {month:Date} AND build = {build:UInt64} GROUP BY dimension`,
    { site: month.siteId, month: dateOf(month.first), build },
  );
  // Each row of the month has one value of each dimension. If another process builds the month with the same number, values are there twice.
  const isRight = sums.every(({ repeated, hits }) => Number(repeated) === 0 && Number(hits) === month.hits);
  // An erasure or an expiry that began meanwhile may have deleted rows. Then the month is not at fault.
  assertUnchanged();
  if (!isRight || (month.hits > 0 && sums.length !== MONTH_DIMENSIONS.length)) return false;
  await change(
    `INSERT INTO visit_months (site_id, dimension, month, build, days) VALUES ('${month.siteId}', '', '${dateOf(month.first)}', ${build}, ${month.hash})`,
  );
  return true;
}

/** A SELECT of the rows of a month and dimension, with the columns of `COLUMNS`. `inShare`: the condition for the values that are selected. */
export function monthSums(
  { siteId, first, end, builds }: MonthToBuild,
  dimension: string,
  build: number,
  inShare: (value: string) => string,
): string {
  const isPage = dimension === 'page';
  const value = isPage ? 'each' : `CAST(${dimension}_path, 'String')`;
  const [views, events, counted] = isPage
    ? ['each_views', 'each_events', 'each_visits']
    : ['visit_slots.pageviews', 'visit_slots.events', 'begun = 2'];
  const ofVisits = ['bounces', 'seconds', 'views'].map((name) => `sumIf(visit_slots.${name}, ${counted}) AS ${name}`);
  const join = isPage
    ? '\n  ARRAY JOIN pages AS each, page_views AS each_views, page_events AS each_events, page_visits AS each_visits'
    : '';
  return `SELECT '${siteId}' AS site_id, '${dimension}' AS dimension, toDate('${dateOf(first)}') AS month, ${build} AS build, 0 AS days,
    ${value} AS value, ${MONTH_SKETCH.stateIf}(visitor_key, hits AND visitor_key != ${NO_KEY}) AS visitors,
    sumIf(${views}, hits) AS pageviews, sumIf(${events}, hits) AS events, countIf(${counted}) AS visits, ${ofVisits.join(', ')}
  FROM visit_slots${join}
  WHERE visit_slots.site_id = '${siteId}' AND day >= '${dateOf(first)}' AND day < '${dateOf(end)}' AND visit_slots.build IN (${builds.join(', ')})
    AND (hits OR ${counted}) AND ${inShare(value)}
  GROUP BY value`;
}

/**
 * Deletes the rows of builds that are not valid. Builds of the last hour stay, because they may be running. First deletes the rows which say that a
 * build is complete, because a report may have begun to read it (`areKept` in month-run.ts).
 */
export async function removeOldMonths({ analytics, clock, change }: BuildContext, siteId: string): Promise<void> {
  const { months } = await readMonths((query, params) => analytics.select(query, params), siteId);
  const valid = [0, ...months.flatMap(({ build }) => build ?? [])].join(', ');
  const hourAgo = (clock() - HOUR_MS) * BUILDS_PER_MS;
  const old = `site_id = '${siteId}' AND build < ${hourAgo} AND build NOT IN (${valid})`;
  const [found] = await analytics.select(`SELECT 1 FROM visit_months WHERE ${old} LIMIT 1`);
  if (found === undefined) return;
  await change(`ALTER TABLE visit_months DELETE WHERE ${old} AND dimension = ''`);
  // A build that took more than an hour can have become complete meanwhile.
  const complete = `SELECT build FROM visit_months WHERE site_id = '${siteId}' AND dimension = ''`;
  await change(`ALTER TABLE visit_months DELETE WHERE ${old} AND build NOT IN (${complete})`);
}

const dateOf = (day: number): string => dayOf(day * DAY_MS);
