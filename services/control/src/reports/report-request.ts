import type { Site } from '@weir/domain/registry/site';
import { TIMEZONE_RULE, timezoneName, zoneOf } from '@weir/domain/registry/time-zone';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { Checked } from '../http/compile-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { ReportTables, SteadyTables } from '../steady-tables.ts';
import { type DayFact, runOf } from '../visit-slots/built-run.ts';
import { MONTH_DIMENSIONS, MONTH_SLOTS_MIN, monthRunOf } from '../visit-slots/month-run.ts';
import type { Dimension } from './dimensions.ts';
import { readFilters } from './filter.ts';
import { COMPARISONS, type Comparison, comparedPeriod, type Period, readPeriod } from './period.ts';
import { type Query, readChoice } from './read-query.ts';
import { METRIC_NAMES, type MetricName, needsVisits } from './report-metrics.ts';
import { EXACT_SLOTS_MAX, isEmptyBreakdown, ROWS_ALONE, type Scope, type SlotRun } from './report-sql.ts';
import { findBotVisits } from './visits/bot-visits.ts';
import { countsOnlyBots } from './visits/only-bots-parts.ts';
import { readPeriodFacts } from './visits/period-facts.ts';
import { dimensionsOf, isInSlots, propertiesOf } from './visits/slot-rows.ts';
import { OF_SITE } from './visits/visit-rows.ts';
import { likelySourceOf, visitSourceOf } from './visits/visit-source.ts';

/** The part of a request that all reports on one site share, except the realtime report. */
export interface ReportRequest {
  readonly scope: Scope;
  /** The period of comparison. Undefined if no comparison was requested. */
  readonly compared: { readonly comparison: Comparison; readonly scope: Scope } | undefined;
  readonly withExplanation: boolean;
}

export interface ReportDeps {
  readonly analytics: ReportTables;
  readonly clock: () => number;
}

/** The part of a request that all reports share. */
export interface ReportOptions extends Pick<Scope, 'filters' | 'withBots'> {
  readonly withExplanation: boolean;
}

export function readReportOptions(query: Query): Checked<ReportOptions> {
  const filters = readFilters(query.filters);
  if ('problem' in filters) return filters;
  const bots = readChoice('bots', query.bots, ['exclude', 'include']);
  if ('problem' in bots) return bots;
  const explain = readChoice('explain', query.explain, ['0', '1']);
  if ('problem' in explain) return explain;
  return {
    value: { filters: filters.value, withBots: bots.value === 'include', withExplanation: explain.value === '1' },
  };
}

/** Which numbers the reports `stats` and `breakdown` need. */
export interface AskedNumbers {
  /** The dimension of a breakdown. */
  readonly by?: Dimension | undefined;
  /** The starts of the buckets, in Unix milliseconds. */
  readonly starts?: (period: Period) => readonly number[];
  /** The metrics of the answer, and the metric by which the answer is sorted. Default: all. */
  readonly metrics?: readonly MetricName[];
}

/**
 * With `numbers`, this function does not search for long visits (visits that continue for more than a day beyond the period). The report
 * must then run its statements with `askWithSource` (visit-source.ts), which searches for them. Without `numbers`, the report reads no
 * slots (docs/decisions/0047).
 */
export async function readReportRequest(
  site: Site,
  query: Query,
  deps: ReportDeps,
  numbers?: AskedNumbers,
): Promise<Checked<ReportRequest>> {
  const options = readReportOptions(query);
  if ('problem' in options) return options;
  const { withExplanation, ...rows } = options.value;
  const compare = readChoice('compare', query.compare, COMPARISONS);
  if ('problem' in compare) return compare;
  const timezone = query.timezone === undefined ? zoneOf(site) : timezoneName(query.timezone);
  if (timezone === undefined) return { problem: TIMEZONE_RULE };
  const period = await readPeriod(query, timezone, deps.clock(), () => firstRowMs(site, deps));
  if ('problem' in period) return period;
  const exact = readChoice('exact', query.exact, ['0', '1']);
  if ('problem' in exact) return exact;
  const comparison = compare.value;
  const withVisits = needsVisits(numbers?.metrics ?? METRIC_NAMES);
  const scopeOf = async (period: Period): Promise<Scope> => {
    const scope = { siteId: site.siteId, period, ...rows, withVisits, isShown: withExplanation };
    const visits =
      numbers === undefined
        ? await visitSourceOf(scope, deps.analytics)
        : await sourceForNumbers(scope, numbers, exact.value === '1', deps.analytics);
    return { ...scope, visits };
  };
  const [scope, compared] = await Promise.all([
    scopeOf(period.value),
    comparison === undefined
      ? undefined
      : scopeOf(comparedPeriod(period.value, comparison)).then((scope) => ({ comparison, scope })),
  ]);
  return { value: { scope, compared, withExplanation } };
}

/** Answers a request for a report: reads its query with `readReportRequest`, and answers 400 if the query or the report has a problem. */
export async function answerReport(
  { tables, clock }: { readonly tables: SteadyTables; readonly clock: () => number },
  { site, context }: { readonly site: Site; readonly context: RequestContext },
  query: Query,
  report: (request: ReportRequest, deps: ReportDeps) => Promise<Checked<object>>,
  numbers?: AskedNumbers,
): Promise<Reply> {
  const answer = await tables.read<Checked<object>>(async (analytics) => {
    const deps = { analytics, clock };
    const request = await readReportRequest(site, query, deps, numbers);
    return 'problem' in request ? request : report(request.value, deps);
  }, context);
  return 'problem' in answer ? invalid(answer.problem) : ok(answer.value);
}

/** Decides from which tables a report reads its visits: only from rows of the period, from slots, or from sessions. */
async function sourceForNumbers(
  scope: Omit<Scope, 'visits'>,
  { by, starts }: AskedNumbers,
  isExact: boolean,
  analytics: ReportTables,
): Promise<Scope['visits']> {
  const { filters, period, withBots, withVisits } = scope;
  if (isEmptyBreakdown(scope, by)) return ROWS_ALONE;
  const usesVisits = dimensionsOf(filters, by).some((dimension) => dimension.scope === 'visit');
  const bots = withBots && usesVisits ? await findBotVisits(scope, analytics) : undefined;
  if (bots === 'apart' && countsOnlyBots(filters, by)) return { ...ROWS_ALONE, bots };
  const usesOnlyRows = !withVisits && !usesVisits;
  const isBuilt = (!withBots || bots === 'apart') && isInSlots(scope, by, starts?.(period));
  if (usesOnlyRows && !isBuilt) return ROWS_ALONE;
  const facts = await readPeriodFacts(scope, analytics, isBuilt ? propertiesOf(filters, by) : []);
  const built = isBuilt ? slotRun(facts.days, scope, by, withBots || isExact) : undefined;
  if (usesOnlyRows) return { ...ROWS_ALONE, built };
  const visits = await likelySourceOf(scope, analytics, facts, built);
  return visits.of === 'sessions' ? visits : { ...visits, bots };
}

function slotRun(
  facts: readonly DayFact[],
  { period, filters }: Omit<Scope, 'visits'>,
  by: Dimension | undefined,
  isExact: boolean,
): SlotRun | undefined {
  const run = runOf(facts, period);
  if (run === undefined || isExact) return run && { ...run, isEstimate: false };
  const usesMonths = run.slots > MONTH_SLOTS_MIN && filters.length === 0 && MONTH_DIMENSIONS.includes(by?.name ?? '');
  const months = usesMonths ? monthRunOf(facts, run) : undefined;
  return { ...run, months, isEstimate: run.slots > EXACT_SLOTS_MAX || months !== undefined };
}

async function firstRowMs(site: Site, { analytics }: ReportDeps): Promise<number | undefined> {
  const { rows } = await analytics.userQuery(
    `SELECT count() AS rows, toUnixTimestamp64Milli(min(timestamp)) AS first FROM records WHERE ${OF_SITE}`,
    { site: site.siteId },
  );
  return Number(rows[0]?.rows ?? 0) === 0 ? undefined : Number(rows[0]?.first);
}
