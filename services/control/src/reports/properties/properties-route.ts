import type { AdminDeps } from '../../control-deps.ts';
import { invalid, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import { readCount } from '../../http/query-parameters.ts';
import { LIMIT_MAX, PROPERTIES_PARAMETERS, readQuery } from '../read-query.ts';
import { answerReport } from '../report-request.ts';
import { propertiesReport } from './properties-report.ts';

const LIMIT_DEFAULT = 100;

/** Returns the names of the custom properties in a period (docs/stats.md, Dimensions). */
export async function properties(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, PROPERTIES_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const limit = readCount('limit', query.value.limit, { max: LIMIT_MAX, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return invalid(limit.problem);
  return answerReport(deps, { site, context }, query.value, async (request, reading) => ({
    value: await propertiesReport(request, limit.value, reading),
  }));
}
