import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { bucketStarts, defaultInterval, INTERVALS } from '../reports/buckets.ts';
import { readChoice, readQuery, STATS_PARAMETERS } from '../reports/read-query.ts';
import { readReportRequest } from '../reports/report-request.ts';
import { statsReport } from '../reports/stats-report.ts';
import { isInSlots } from '../reports/visits/slot-rows.ts';

/** Returns the numbers of a site, in total and by time (docs/stats.md). */
export async function stats(deps: AdminDeps, { params, http, context }: AdminRequest): Promise<Reply> {
  const site = deps.registry.site(params.site_id ?? '');
  if (site === undefined) return notFound('site');
  const query = readQuery(http.originalUrl, STATS_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const interval = readChoice('interval', query.value.interval, INTERVALS);
  if ('problem' in interval) return invalid(interval.problem);
  const report = await deps.tables.read(async (analytics) => {
    const reading = { analytics, clock: deps.clock };
    const request = await readReportRequest(site, query.value, reading, (scope) => {
      const starts = bucketStarts(scope.period, interval.value ?? defaultInterval(scope.period));
      return 'value' in starts && isInSlots(scope, undefined, starts.value);
    });
    return 'problem' in request ? request : statsReport(request.value, interval.value, reading);
  }, context);
  return 'problem' in report ? invalid(report.problem) : ok(report.value);
}
