import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { INTERVALS } from '../reports/buckets.ts';
import { readChoice, readQuery, STATS_PARAMETERS } from '../reports/read-query.ts';
import { askStats } from '../reports/stats-report.ts';

/** Returns the numbers of a site, in total and by time (docs/stats.md). */
export async function stats(deps: AdminDeps, { params, http, context }: AdminRequest): Promise<Reply> {
  const site = deps.registry.site(params.site_id ?? '');
  if (site === undefined) return notFound('site');
  const query = readQuery(http.originalUrl, STATS_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const interval = readChoice('interval', query.value.interval, INTERVALS);
  if ('problem' in interval) return invalid(interval.problem);
  const report = await deps.tables.read(
    (analytics) => askStats(site, query.value, interval.value, { analytics, clock: deps.clock }),
    context,
  );
  return 'problem' in report ? invalid(report.problem) : ok(report.value);
}
