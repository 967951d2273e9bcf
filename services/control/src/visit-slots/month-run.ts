import { createHash } from 'node:crypto';
import type { Period } from '../reports/period.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import type { ReportTables } from '../steady-tables.ts';
import { type BuiltRun, type DayFact, hasPageVisits, validBuilds } from './built-run.ts';
import { DAY_MS } from './slot-sql.ts';

/** The dimensions of `visit_months` (docs/decisions/0062). They can have so many values that a report of a year takes too long without it. */
export const MONTH_DIMENSIONS: readonly string[] = ['page', 'entry', 'exit'];
/** Months are built and used only if `visit_slots` has more rows than this. Reports of fewer rows are fast, and count all visitors exactly. */
export const MONTH_SLOTS_MIN = 2_000_000;

/** The aggregate functions for the column `visitors` of `visit_months`. */
export const MONTH_SKETCH = { stateIf: 'uniqCombinedStateIf(17)', merge: 'uniqCombinedMerge(17)' } as const;

/** Consecutive UTC months of a site that a report reads from `visit_months`. */
export interface MonthRun {
  /** The start of the first month and the end of the last one, in Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The values of the column `build` in the rows of these months. Rows with other values are out of date. */
  readonly builds: readonly number[];
}

/** A UTC month: its first day, and the first day after it. In days since 1970. */
export interface Month {
  readonly first: number;
  readonly end: number;
}

/** Lists the UTC months that lie between two days, the second of which is not included. In days since 1970. */
export function monthsBetween(fromDay: number, toDay: number): readonly Month[] {
  const months: Month[] = [];
  const from = new Date(fromDay * DAY_MS);
  const start = (nth: number): number => Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + nth, 1) / DAY_MS;
  for (let nth = start(0) < fromDay ? 1 : 0; start(nth + 1) <= toDay; nth++) {
    months.push({ first: start(nth), end: start(nth + 1) });
  }
  return months;
}

/**
 * A hash of the builds of the days of a month. A month build is valid if it was made from exactly the valid builds of these days. Undefined: some day
 * has no valid build, or its slots do not have the visits of pages. The hash has 52 bits, so that it is exact as a number in JSON.
 */
export function daysHash({ first, end }: Month, valid: ReadonlyMap<number, DayFact>): number | undefined {
  const days = Array.from({ length: end - first }, (_, nth) => valid.get(first + nth));
  if (!days.every((day) => day !== undefined && hasPageVisits(day))) return undefined;
  const digest = createHash('sha256').update(days.map((day) => day?.build).join());
  return Number.parseInt(digest.digest('hex').slice(0, 13), 16);
}

/** Selects the complete builds of months, by the first day of the month. The field `hits` of this fact has the hash of the builds of the days. */
export const MONTHS = `SELECT 'month' AS kind, month AS day, visit_months.build AS build, 0 AS slots, visit_months.days AS hits, 0 AS late, 0 AS contents
  FROM visit_months WHERE site_id = {site:String} AND month >= {first_day:Date} AND month <= {last_day:Date} AND dimension = ''`;

/** Whether a run of days in the period can contain a whole month. */
export function canHaveMonths({ fromMs, toMs }: Period): boolean {
  return monthsBetween(Math.ceil(fromMs / DAY_MS), Math.floor(toMs / DAY_MS)).length > 0;
}

/** The longest run of months in `run` with valid builds, from facts of all its days. */
export function monthRunOf(facts: readonly DayFact[], run: BuiltRun): MonthRun | undefined {
  const valid = validBuilds(facts);
  let best: MonthRun | undefined;
  let present: MonthRun | undefined;
  for (const month of monthsBetween(run.fromMs / DAY_MS, run.toMs / DAY_MS)) {
    const build = monthBuild(facts, month, daysHash(month, valid));
    if (build === undefined) {
      present = undefined;
      continue;
    }
    present = {
      fromMs: present?.fromMs ?? month.first * DAY_MS,
      toMs: month.end * DAY_MS,
      builds: [...(present?.builds ?? []), build],
    };
    if (best === undefined || present.builds.length > best.builds.length) best = present;
  }
  return best;
}

/** The number of the newest build of the month that was made from these builds of its days. */
export function monthBuild(facts: readonly DayFact[], { first }: Month, hash: number | undefined): number | undefined {
  const builds = facts.filter(({ kind, day, hits }) => kind === 'month' && day === first && hits === hash);
  return hash === undefined || builds.length === 0 ? undefined : Math.max(...builds.map(({ build }) => build));
}

/**
 * Whether these builds are still there. An erasure, an expiry and `removeOldMonths` delete the rows which say that a build is complete, and then the
 * other rows. So if this function resolves with true, an earlier statement has read complete builds. Whether they are still valid does not matter: a
 * report may show the rows of the moment at which it read its facts.
 */
export async function areKept(
  siteId: string,
  { builds }: MonthRun,
  { userQuery }: Pick<ReportTables, 'userQuery'>,
): Promise<boolean> {
  const { rows } = await userQuery(
    `SELECT uniqExact(build) AS kept FROM visit_months WHERE site_id = {site:String} AND dimension = '' AND build IN {builds:Array(UInt64)}`,
    { site: siteId, builds },
  );
  return Number(rows[0]?.kept) === builds.length;
}

/** The first days of the months of a run, as dates: the first month, and the month after the last one. */
export const monthEnds = ({ fromMs, toMs }: MonthRun): readonly [string, string] => [dayOf(fromMs), dayOf(toMs)];
