import type { AdminDeps } from '../../control-deps.ts';
import { invalid, ok, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import { readCount } from '../../http/query-parameters.ts';
import { REALTIME_LIMIT_MAX, REALTIME_PARAMETERS, readQuery } from '../read-query.ts';
import { readReportOptions } from '../report-request.ts';
import { realtimeReport } from './realtime-report.ts';

const LIMIT_DEFAULT = 10;

/** Returns who is on a site now (docs/stats.md, Realtime). */
export async function realtime(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, REALTIME_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const options = readReportOptions(query.value);
  if ('problem' in options) return invalid(options.problem);
  const limit = readCount('limit', query.value.limit, { max: REALTIME_LIMIT_MAX, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return invalid(limit.problem);
  const { clock } = deps;
  return ok(
    await deps.tables.read(
      (analytics) => realtimeReport(site, options.value, limit.value, { analytics, clock }),
      context,
    ),
  );
}
