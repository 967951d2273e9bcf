import { explained } from '../excluded-rows.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import { headView } from '../report-view.ts';
import { propertiesStatement } from './properties-sql.ts';

export async function propertiesReport(request: ReportRequest, limit: number, deps: ReportDeps): Promise<object> {
  // One more row than requested shows whether there are more properties.
  const statement = propertiesStatement(request.scope, limit + 1);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  return {
    ...headView(request),
    limit,
    has_more: rows.length > limit,
    properties: rows.slice(0, limit).map(({ name, visitors, pageviews, events }) => ({
      ...{ name: String(name), visitors: Number(visitors), pageviews: Number(pageviews), events: Number(events) },
    })),
    ...(await explained(request, { properties: statement }, deps)),
  };
}
