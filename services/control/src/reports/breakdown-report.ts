import { type BreakdownOrder, breakdownStatement } from './breakdown-sql.ts';
import type { Dimension } from './dimensions.ts';
import { countExcludedRows } from './excluded-rows.ts';
import { countsOf, metricsOf, NO_COUNTS } from './report-metrics.ts';
import type { ReportDeps, ReportRequest } from './report-request.ts';
import { estimatesVisitors, type Statement } from './report-sql.ts';
import { headView, periodView, statementView } from './report-view.ts';

export interface BreakdownRequest {
  readonly by: Dimension;
  readonly order: BreakdownOrder;
  readonly limit: number;
  readonly page: number;
}

/** Answers the breakdown report: one page of the values of a dimension, each with its numbers. */
export async function breakdownReport(
  request: ReportRequest,
  { by, order, limit, page }: BreakdownRequest,
  deps: ReportDeps,
): Promise<object> {
  const { scope, compared } = request;
  // One more row than requested shows whether there is another page.
  const statement = breakdownStatement(scope, by, { order, rowsMax: limit + 1, skip: (page - 1) * limit });
  const found = await ask(statement, deps);
  const rows = found.slice(0, limit);
  const values = rows.map(({ value }) => value);
  const earlier =
    compared === undefined
      ? undefined
      : breakdownStatement(compared.scope, by, { order, rowsMax: limit, skip: 0, values });
  const before = earlier === undefined ? [] : await ask(earlier, deps);
  const statements = [
    statementView('breakdown', statement),
    ...(earlier === undefined ? [] : [statementView('comparison', earlier)]),
  ];
  return {
    ...headView(request),
    dimension: by.name,
    order: `${order.metric}:${order.direction}`,
    limit,
    page,
    has_more: found.length > limit,
    ...(compared === undefined ? {} : { comparison: periodView(compared.scope) }),
    rows: rows.map(({ value, counts }) => ({
      value,
      ...metricsOf(counts, estimatesVisitors(scope)),
      ...(compared === undefined
        ? {}
        : {
            before: metricsOf(
              before.find((row) => row.value === value)?.counts ?? NO_COUNTS,
              estimatesVisitors(compared.scope),
            ),
          }),
    })),
    ...(request.withExplanation ? { explain: { statements, left_out: await countExcludedRows(scope, deps) } } : {}),
  };
}

async function ask({ sql, params }: Statement, { analytics }: ReportDeps) {
  const { rows } = await analytics.userQuery(sql, params);
  return rows.map((row) => ({ value: String(row.name), counts: countsOf(row) }));
}
