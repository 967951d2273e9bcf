import { countExcludedRows } from '../excluded-rows.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import { headView, statementView } from '../report-view.ts';
import { journeysStatement } from './journeys-sql.ts';

export interface JourneysOf {
  readonly path: string;
  readonly limit: number;
}

/** The answer of the journeys report: the pages before and after a page, within visits. */
export async function journeysReport(
  request: ReportRequest,
  { path, limit }: JourneysOf,
  deps: ReportDeps,
): Promise<object> {
  const { scope, withExplanation } = request;
  const statement = journeysStatement(scope, path, limit);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  const listOf = (name: string) =>
    rows
      .filter(({ list }) => list === name)
      .map(({ value, views, visits }) => ({ value: String(value), views: Number(views), visits: Number(visits) }));
  const [{ views, visits } = { views: 0, visits: 0 }] = listOf('page');
  const explain = withExplanation
    ? {
        explain: { statements: [statementView('journeys', statement)], left_out: await countExcludedRows(scope, deps) },
      }
    : {};
  return {
    ...headView(request),
    path,
    limit,
    views,
    visits,
    previous: listOf('previous'),
    next: listOf('next'),
    ...explain,
  };
}
