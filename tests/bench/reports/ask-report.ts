import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { dimensionOf } from '@weir/control/reports/dimensions';
import { BREAKDOWN_PARAMETERS, readQuery, STATS_PARAMETERS } from '@weir/control/reports/read-query';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { type ReportDeps, readReportRequest } from '@weir/control/reports/report-request';
import { statsReport } from '@weir/control/reports/stats-report';
import { createSteadyTables } from '@weir/control/steady-tables';
import type { Analytics } from '@weir/ports/analytics';
import type { ReportRequest } from './report-requests.ts';
import { TRAFFIC_SITE } from './report-traffic.ts';

const SITE = {
  siteId: TRAFFIC_SITE,
  name: 'bench',
  domain: 'www.example.com',
  timezone: 'UTC',
  limits: {},
  createdAt: 0,
};

/** Asks reports on the generated traffic. */
export interface ReportAsker {
  /** Does the same work as a request to the admin API, without HTTP. `nowMs` is the present time for the report, in Unix milliseconds. */
  ask(request: ReportRequest, nowMs: number): Promise<void>;
}

/** The reports of one asker share answers of statements, as the requests to one process with the role control do. */
export function createReportAsker(analytics: Analytics): ReportAsker {
  const tables = createSteadyTables(analytics, Date.now);
  return {
    ask: (request, nowMs) => tables.read((analytics) => answer(request, { analytics, clock: () => nowMs })),
  };
}

async function answer({ report, query }: ReportRequest, deps: ReportDeps): Promise<void> {
  const by = dimensionOf(report);
  const read = readQuery(`/${query}`, by === undefined ? STATS_PARAMETERS : BREAKDOWN_PARAMETERS);
  if ('problem' in read) throw new Error(read.problem);
  const request = await readReportRequest(SITE, read.value, deps, { by });
  if ('problem' in request) throw new Error(request.problem);
  const order = { metric: 'visitors', direction: 'desc' } as const;
  if (by === undefined) await statsReport(request.value, undefined, deps);
  else await breakdownReport(request.value, { by, order, limit: 100, page: 1, metrics: METRIC_NAMES }, deps);
}
