import { explained } from '../excluded-rows.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import { headView } from '../report-view.ts';
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
  const statement = journeysStatement(request.scope, path, limit);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  const listOf = (name: string) =>
    rows
      .filter(({ list }) => list === name)
      .map(({ value, views, visits }) => ({ value: String(value), views: Number(views), visits: Number(visits) }));
  const [{ views, visits } = { views: 0, visits: 0 }] = listOf('page');
  return {
    ...headView(request),
    path,
    limit,
    views,
    visits,
    previous: listOf('previous'),
    next: listOf('next'),
    ...(await explained(request, { journeys: statement }, deps)),
  };
}
