import type { Goal } from '@weir/domain/registry/goal';
import type { AdminDeps } from '../../control-deps.ts';
import { invalid, notFound, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import type { Checked } from '../../http/compile-body.ts';
import { readDimension } from '../dimensions.ts';
import { CONVERSIONS_PARAMETERS, type Query, readOrder, readPage, readQuery } from '../read-query.ts';
import { answerReport } from '../report-request.ts';
import { type ConversionsOf, conversionsReport, goalsReport } from './conversions-report.ts';
import { CONVERSION_ORDERS, type ConversionMetric } from './conversions-sql.ts';

const ORDER_DEFAULT = 'conversions:desc';

/** Returns the conversions of the goals of a site, or of one goal by a dimension (docs/stats.md, Goals). */
export async function conversions(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, CONVERSIONS_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const goals = deps.registry.goals(site.siteId);
  const goal = goals.find(({ goalId }) => goalId === query.value.goal);
  if (query.value.goal !== undefined && goal === undefined) return notFound('goal');
  const by = readConversionsOf(query.value, goal);
  if ('problem' in by) return invalid(by.problem);
  return answerReport(deps, { site, context }, query.value, async (request, reading) => ({
    value:
      goal !== undefined && by.value !== undefined
        ? await conversionsReport(request, goal, by.value, reading)
        : await goalsReport(request, goal === undefined ? goals : [goal], reading),
  }));
}

/** Reads the requested dimension with its order and page. The value is undefined if the request has no dimension. */
function readConversionsOf(query: Query, goal: Goal | undefined): Checked<ConversionsOf | undefined> {
  if (query.dimension === undefined) {
    const extra = (['order', 'limit', 'page'] as const).find((name) => query[name] !== undefined);
    return extra === undefined ? { value: undefined } : { problem: `dimension is required when ${extra} is sent` };
  }
  const by = readDimension(query.dimension);
  if ('problem' in by) return by;
  if (goal === undefined) return { problem: 'goal is required when dimension is sent' };
  const order = readOrder(query.order ?? ORDER_DEFAULT, Object.keys(CONVERSION_ORDERS) as ConversionMetric[]);
  if ('problem' in order) return order;
  const page = readPage(query);
  return 'problem' in page ? page : { value: { by: by.value, order: order.value, ...page.value } };
}
