import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { invalid, notFound, ok } from '../reply.ts';
import { INTERVALS } from '../reports/buckets.ts';
import { readChoice, readQuery } from '../reports/read-query.ts';
import { REPORT_PARAMETERS, readReportRequest } from '../reports/report-request.ts';
import { statsReport } from '../reports/stats-report.ts';

/** A site's numbers, whole and by time (docs/stats.md). */
export function statsRoutes(router: Router, deps: Pick<ControlDeps, 'analytics' | 'registry' | 'clock'>): void {
  defineRoute(router, '/sites/:site_id/stats', {
    get: async (request) => {
      const site = deps.registry.site(param(request, 'site_id'));
      if (site === undefined) return notFound('site');
      const query = readQuery(request.originalUrl, [...REPORT_PARAMETERS, 'interval']);
      if ('problem' in query) return invalid(query.problem);
      const interval = readChoice('interval', query.value.interval, INTERVALS);
      if ('problem' in interval) return invalid(interval.problem);
      const asked = await readReportRequest(site, query.value, deps);
      if ('problem' in asked) return invalid(asked.problem);
      const report = await statsReport(asked.value, interval.value, deps);
      return 'problem' in report ? invalid(report.problem) : ok(report.value);
    },
  });
}
