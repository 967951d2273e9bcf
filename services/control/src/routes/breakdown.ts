import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { invalid, notFound, ok } from '../reply.ts';
import { type BreakdownRequest, breakdownReport } from '../reports/breakdown-report.ts';
import { DIMENSION_NAMES, dimensionOf } from '../reports/dimensions.ts';
import { METRIC_NAMES } from '../reports/metrics.ts';
import { type Query, readCount, readQuery } from '../reports/read-query.ts';
import { REPORT_PARAMETERS, readReportRequest } from '../reports/report-request.ts';
import type { Checked } from '../validate.ts';

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;
const PAGE_MAX = 100;
const ORDER_DEFAULT = 'visitors:desc';

/** A site's numbers by page, source, country and so on (docs/stats.md). */
export function breakdownRoutes(router: Router, deps: Pick<ControlDeps, 'analytics' | 'registry' | 'clock'>): void {
  defineRoute(router, '/sites/:site_id/breakdown', {
    get: async (request) => {
      const site = deps.registry.site(param(request, 'site_id'));
      if (site === undefined) return notFound('site');
      const query = readQuery(request.originalUrl, [...REPORT_PARAMETERS, 'dimension', 'order', 'limit', 'page']);
      if ('problem' in query) return invalid(query.problem);
      const breakdown = readBreakdown(query.value);
      if ('problem' in breakdown) return invalid(breakdown.problem);
      const asked = await readReportRequest(site, query.value, deps);
      if ('problem' in asked) return invalid(asked.problem);
      return ok(await breakdownReport(asked.value, breakdown.value, deps));
    },
  });
}

function readBreakdown(query: Query): Checked<BreakdownRequest> {
  const by = dimensionOf(query.dimension ?? '');
  if (by === undefined) return { problem: `dimension must be one of ${DIMENSION_NAMES.join(', ')}` };
  const [metricName, direction = 'desc', ...more] = (query.order ?? ORDER_DEFAULT).split(':');
  const metric = METRIC_NAMES.find((name) => name === metricName);
  if (metric === undefined || (direction !== 'asc' && direction !== 'desc') || more.length > 0) {
    return { problem: `order must be one of ${METRIC_NAMES.join(', ')}, with :asc or :desc after it` };
  }
  const limit = readCount('limit', query.limit, { max: LIMIT_MAX, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return limit;
  const page = readCount('page', query.page, { max: PAGE_MAX, otherwise: 1 });
  if ('problem' in page) return page;
  return { value: { by, order: { metric, direction }, limit: limit.value, page: page.value } };
}
