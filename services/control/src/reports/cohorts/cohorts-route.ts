import type { AdminDeps } from '../../control-deps.ts';
import { invalid, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import { COHORT_INTERVALS, COHORTS_PARAMETERS, readChoice, readQuery } from '../read-query.ts';
import { answerReport } from '../report-request.ts';
import { cohortsReport } from './cohorts-report.ts';

/** Returns how many new visitors came back later (docs/stats.md, Cohorts). */
export async function cohorts(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, COHORTS_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const interval = readChoice('interval', query.value.interval, COHORT_INTERVALS);
  if ('problem' in interval) return invalid(interval.problem);
  return answerReport(deps, { site, context }, query.value, (request, reading) =>
    cohortsReport(request, interval.value ?? 'day', reading),
  );
}
