import type { AdminDeps } from '../../control-deps.ts';
import { invalid, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import { readCount } from '../../http/query-parameters.ts';
import { hasControlCharacter } from '../dimensions.ts';
import { FILTER_VALUE_CHARS_MAX } from '../filter.ts';
import { JOURNEYS_PARAMETERS, LIMIT_MAX, readQuery } from '../read-query.ts';
import { answerReport } from '../report-request.ts';
import { journeysReport } from './journeys-report.ts';

const LIMIT_DEFAULT = 10;

/** Returns the pages before and after a page (docs/stats.md, Journeys). */
export async function journeys(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, JOURNEYS_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const { path = '' } = query.value;
  if (path === '' || [...path].length > FILTER_VALUE_CHARS_MAX || hasControlCharacter(path)) {
    return invalid(`path must be a page of up to ${FILTER_VALUE_CHARS_MAX} chars, such as /pricing`);
  }
  const limit = readCount('limit', query.value.limit, { max: LIMIT_MAX, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return invalid(limit.problem);
  return answerReport(deps, { site, context }, query.value, async (request, reading) => ({
    value: await journeysReport(request, { path, limit: limit.value }, reading),
  }));
}
