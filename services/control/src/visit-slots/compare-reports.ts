import { breakdownReport } from '../reports/breakdown-report.ts';
import { COLUMN_DIMENSION_NAMES, type Dimension, dimensionOf } from '../reports/dimensions.ts';
import type { Filter } from '../reports/filter.ts';
import { LIMIT_MAX } from '../reports/read-query.ts';
import { METRIC_NAMES } from '../reports/report-metrics.ts';
import type { AskedScope, Scope } from '../reports/report-sql.ts';
import { statsReport } from '../reports/stats-report.ts';
import { isInSlots, propertiesOf } from '../reports/visits/slot-rows.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import { visitSourceOf } from '../reports/visits/visit-source.ts';
import type { ReportTables } from '../steady-tables.ts';
import { compareMonth } from './build-months.ts';
import { builtRun, DAY_FACTS, dayFact, validBuilds } from './built-run.ts';
import { MONTH_DIMENSIONS } from './month-run.ts';
import { DAY_MS } from './slot-sql.ts';

export interface ComparedDay {
  readonly site_id: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly reports: number;
  /** The reports whose numbers differ, for example `stats` or `breakdown by page`. */
  readonly differing: readonly string[];
}

/** The reports that can read slots (docs/glossary.md) of all built days: the stats, and the breakdowns by these dimensions. */
const REPORTS: readonly string[] = [
  'stats',
  ...COLUMN_DIMENSION_NAMES.filter((name) => name !== 'bot' && name !== 'bot_reason'),
];

/**
 * Compares reports of a built day (docs/glossary.md) from slots with the same reports from rows. Resolves with undefined if the build of the day is
 * not valid, or if a report cannot use slots. A late row can arrive between two reports, so reports that differ are compared a second time. If the
 * slots contain custom properties, also compares a breakdown by one of them, and the stats of the rows without this property. If the month of the day
 * is built (docs/decisions/0062), also compares its sums with its slots: for all dimensions, or for a random one if `names` is given.
 */
export async function compareDay(
  siteId: string,
  dayMs: number,
  analytics: ReportTables,
  names?: readonly string[],
  random: () => number = Math.random,
): Promise<ComparedDay | undefined> {
  // A report reads the slots of a day only if its period also contains the next day.
  const period = { zone: 'UTC', fromMs: dayMs, toMs: dayMs + 2 * DAY_MS };
  const asked: AskedScope = { siteId, period, withBots: false, filters: [] };
  const property = dimensionOf(`property:${(await somePropertyInSlots(siteId, dayMs, analytics, random)) ?? ''}`);
  const reports: ComparedReport[] = (names ?? REPORTS).map((name) => ({
    title: name === 'stats' ? name : `breakdown by ${name}`,
    by: dimensionOf(name),
    filters: [],
  }));
  if (property !== undefined) {
    const filters: readonly Filter[] = [{ dimension: property, operator: 'is', values: [''] }];
    reports.push({ title: `breakdown by ${property.name}`, by: property, filters: [] });
    reports.push({ title: `stats without ${property.name}`, by: undefined, filters });
  }
  const differing: string[] = [];
  for (const { title, by, filters } of reports) {
    const compare = () => compareReport({ ...asked, filters }, by, analytics);
    const result = (await compare()) && (await compare());
    if (result === undefined) return undefined;
    if (result) differing.push(title);
  }
  const compared = { site_id: siteId, day: dayOf(dayMs) };
  // If the slots of the day are wrong, the day is built again, and so is its month.
  if (differing.length > 0) return { ...compared, reports: reports.length, differing };
  const dimensions =
    names === undefined
      ? MONTH_DIMENSIONS
      : [MONTH_DIMENSIONS[Math.floor(random() * MONTH_DIMENSIONS.length)] ?? 'page'];
  const share = random();
  const compareSums = () => compareMonth(siteId, dayMs, analytics, share, dimensions);
  const found = await compareSums();
  const ofMonth = found === undefined || found.length === 0 ? found : await compareSums();
  differing.push(...(ofMonth ?? []).map((name) => `breakdown by ${name}, sums of the month`));
  return { ...compared, reports: reports.length + (ofMonth === undefined ? 0 : dimensions.length), differing };
}

interface ComparedReport {
  readonly title: string;
  /** The dimension of a breakdown. Undefined: the stats. */
  readonly by: Dimension | undefined;
  readonly filters: readonly Filter[];
}

/** Selects a random custom property that the slots of the day contain. Resolves with undefined if they contain none. */
async function somePropertyInSlots(
  siteId: string,
  dayMs: number,
  analytics: Pick<ReportTables, 'userQuery'>,
  random: () => number,
): Promise<string | undefined> {
  const { rows } = await analytics.userQuery(
    `SELECT arrayJoin(names) AS name FROM
    (
      SELECT argMax(property_names, build) AS names FROM visit_days
      WHERE site_id = {site:String} AND day = {day:Date} GROUP BY visit_days.day
    ) ORDER BY name`,
    { site: siteId, day: dayOf(dayMs) },
  );
  const name = rows[Math.floor(random() * rows.length)]?.name;
  return name === undefined ? undefined : String(name);
}

/** `stats` and one random breakdown, for the check that start-slot-builds.ts repeats. */
export function someReports(random: () => number): readonly string[] {
  return ['stats', REPORTS[1 + Math.floor(random() * (REPORTS.length - 1))] ?? 'page'];
}

/** Selects up to `days` random built days of a site, in Unix milliseconds. */
export async function someBuiltDays(
  siteId: string,
  days: number,
  analytics: Pick<ReportTables, 'userQuery'>,
  random: () => number = Math.random,
): Promise<readonly number[]> {
  const all = { site: siteId, first_day: '1970-01-01', last_day: '2149-06-06' };
  const { rows } = await analytics.userQuery(DAY_FACTS, all);
  const valid = [...validBuilds(rows.map(dayFact)).keys()].map((day) => ({ day, order: random() }));
  return valid
    .sort((a, b) => a.order - b.order)
    .slice(0, days)
    .map(({ day }) => day * DAY_MS);
}

/** Whether the report from slots differs from the report from rows. Undefined if the report cannot use slots. */
async function compareReport(
  asked: AskedScope,
  by: Dimension | undefined,
  analytics: ReportTables,
): Promise<boolean | undefined> {
  const { siteId, period, filters } = asked;
  const run = isInSlots(asked, by) ? await builtRun(siteId, period, analytics, propertiesOf(filters, by)) : undefined;
  if (run === undefined) return undefined;
  const answers: string[] = [];
  for (const built of [{ ...run, isEstimate: false }, undefined]) {
    const visits = await visitSourceOf(asked, analytics, built);
    // If a long visit continues after the period, both answers would come from `sessions`, and would say nothing about the slots.
    if (built !== undefined && visits.of !== 'rows') return undefined;
    const scope: Scope = { ...asked, visits };
    const request = { scope, compared: undefined, withExplanation: false };
    const deps = { analytics, clock: () => asked.period.toMs };
    const order = { metric: 'visitors', direction: 'desc' } as const;
    const answer =
      by === undefined
        ? await statsReport(request, 'hour', deps)
        : await breakdownReport(request, { by, order, limit: LIMIT_MAX, page: 1, metrics: METRIC_NAMES }, deps);
    answers.push(JSON.stringify(answer));
  }
  return answers[0] !== answers[1];
}
