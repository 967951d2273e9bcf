import { breakdownReport } from '../reports/breakdown-report.ts';
import { COLUMN_DIMENSION_NAMES, dimensionOf } from '../reports/dimensions.ts';
import { LIMIT_MAX } from '../reports/read-query.ts';
import { METRIC_NAMES } from '../reports/report-metrics.ts';
import type { AskedScope, Scope } from '../reports/report-sql.ts';
import { statsReport } from '../reports/stats-report.ts';
import { isInSlots } from '../reports/visits/slot-rows.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import { visitSourceOf } from '../reports/visits/visit-source.ts';
import type { ReportTables } from '../steady-tables.ts';
import { builtRun, DAY_FACTS, dayFact, validBuilds } from './built-run.ts';
import { DAY_MS } from './slot-sql.ts';

export interface ComparedDay {
  readonly site_id: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly reports: number;
  /** The reports whose numbers differ, for example `stats` or `breakdown by page`. */
  readonly differing: readonly string[];
}

/** The reports that can read slots (docs/glossary.md): the stats, and the breakdowns by these dimensions. */
const REPORTS: readonly string[] = [
  'stats',
  ...COLUMN_DIMENSION_NAMES.filter((name) => name !== 'bot' && name !== 'bot_reason'),
];

/**
 * Compares reports of a built day (docs/glossary.md) from slots with the same reports from rows. Resolves with undefined if the build of the day is
 * not valid, or if a report cannot use slots. A late row can arrive between two reports, so reports that differ are compared a second time.
 */
export async function compareDay(
  siteId: string,
  dayMs: number,
  analytics: ReportTables,
  names: readonly string[] = REPORTS,
): Promise<ComparedDay | undefined> {
  // A report reads the slots of a day only if its period also contains the next day.
  const period = { zone: 'UTC', fromMs: dayMs, toMs: dayMs + 2 * DAY_MS };
  const asked: AskedScope = { siteId, period, withBots: false, filters: [] };
  const differing: string[] = [];
  for (const name of names) {
    const result = (await compareReport(asked, name, analytics)) && (await compareReport(asked, name, analytics));
    if (result === undefined) return undefined;
    if (result) differing.push(name === 'stats' ? name : `breakdown by ${name}`);
  }
  return { site_id: siteId, day: dayOf(dayMs), reports: names.length, differing };
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
async function compareReport(asked: AskedScope, name: string, analytics: ReportTables): Promise<boolean | undefined> {
  const by = dimensionOf(name);
  const run = isInSlots(asked, by) ? await builtRun(asked.siteId, asked.period, analytics) : undefined;
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
