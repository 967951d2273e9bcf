import { areKept } from '../visit-slots/month-run.ts';
import { type BreakdownPage, breakdownStatement } from './breakdown-sql.ts';
import type { Dimension } from './dimensions.ts';
import { explained } from './excluded-rows.ts';
import type { Order } from './read-query.ts';
import { countsOf, type MetricName, type Metrics, metricsOf, NO_COUNTS, pickMetrics } from './report-metrics.ts';
import type { ReportDeps, ReportRequest } from './report-request.ts';
import { EXACT_SLOTS_MAX, exactVisitorsMax, isEmptyBreakdown, type Scope, type Statement } from './report-sql.ts';
import { headView, periodView } from './report-view.ts';
import { readsSlots } from './visits/slot-rows.ts';
import { askWithSource } from './visits/visit-source.ts';

export interface BreakdownRequest {
  readonly by: Dimension;
  readonly order: Order<MetricName>;
  readonly limit: number;
  readonly page: number;
  /** The metrics of each row of the answer. */
  readonly metrics: readonly MetricName[];
}

/** Answers the breakdown report: one page of the values of a dimension, each with its numbers. */
export async function breakdownReport(
  request: ReportRequest,
  { by, order, limit, page, metrics: names }: BreakdownRequest,
  deps: ReportDeps,
): Promise<object> {
  const { scope, compared } = request;
  const all = { metrics: names, order, skip: 0 };
  const [asked, allEarlier] = await Promise.all([
    // One more row than requested shows whether there is another page.
    ask(scope, by, { ...all, rowsMax: limit + 1, skip: (page - 1) * limit }, deps),
    compared === undefined || by.hasManyValues === true
      ? undefined
      : ask(compared.scope, by, { ...all, rowsMax: EARLIER_VALUES_MAX + 1 }, deps),
  ]);
  const rows = asked.rows.slice(0, limit);
  const hasAllEarlier = allEarlier !== undefined && allEarlier.rows.length <= EARLIER_VALUES_MAX;
  const earlier =
    compared === undefined || hasAllEarlier
      ? allEarlier
      : await ask(compared.scope, by, { ...all, rowsMax: limit, hashes: rows.map(({ hash }) => hash) }, deps);
  return {
    ...headView(request),
    dimension: by.name,
    order: `${order.metric}:${order.direction}`,
    limit,
    page,
    has_more: asked.rows.length > limit,
    ...(compared === undefined ? {} : { comparison: periodView(compared.scope) }),
    rows: rows.map(({ value, metrics }) => ({
      value,
      ...pickMetrics(metrics, names),
      ...(earlier === undefined
        ? {}
        : {
            before: pickMetrics(
              earlier.rows.find((row) => row.value === value)?.metrics ?? metricsOf(NO_COUNTS),
              names,
            ),
          }),
    })),
    ...(await explained(request, { breakdown: asked.statement, comparison: earlier?.statement }, deps)),
  };
}

/**
 * The statements for both periods of a comparison run at the same time, unless the dimension has `hasManyValues`. If the earlier period has at most
 * this many values, its first statement returns all of them. Otherwise, a later statement counts only the values that are in the answer.
 */
const EARLIER_VALUES_MAX = 1_000;

interface Row {
  readonly value: string;
  readonly hash: string;
  readonly metrics: Metrics;
}

function ask(
  scope: Scope,
  by: Dimension,
  part: BreakdownPage,
  { analytics }: ReportDeps,
): Promise<{ readonly statement: Statement; readonly rows: readonly Row[] }> {
  const answer = async (asked: Scope) => {
    const statement = breakdownStatement(asked, by, part);
    const rows = isEmptyBreakdown(asked, by) ? [] : (await analytics.userQuery(statement.sql, statement.params)).rows;
    const exactMax = exactVisitorsMax(asked);
    return {
      statement,
      rows: rows.map((row) => ({
        value: String(row.name),
        hash: String(row.hash),
        metrics: metricsOf(countsOf(row), exactMax),
      })),
    };
  };
  return askWithSource(scope, analytics, async (asked) => {
    const answered = await answer(asked);
    if (!readsSlots(asked)) return answered;
    const { built } = asked.visits;
    if (built.months === undefined || (await areKept(asked.siteId, built.months, analytics))) return answered;
    // The slots are still there: those of replaced builds are kept for an hour.
    const slots = { ...built, months: undefined, isEstimate: built.slots > EXACT_SLOTS_MAX };
    return answer({ ...asked, visits: { ...asked.visits, built: slots } });
  });
}
