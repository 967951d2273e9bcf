import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import { INTERVALS } from '../reports/buckets.ts';
import { readChoice, readQuery, STATS_PARAMETERS } from '../reports/read-query.ts';
import { askStats } from '../reports/stats-report.ts';

/** Returns the numbers of a site, in total and by time (docs/stats.md). */
export async function stats(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
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
