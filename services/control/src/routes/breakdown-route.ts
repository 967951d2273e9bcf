import type { AdminDeps } from '../control-deps.ts';
import { invalid, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { readCount } from '../http/query-parameters.ts';
import { type BreakdownRequest, breakdownReport } from '../reports/breakdown-report.ts';
import { readDimension } from '../reports/dimensions.ts';
import { BREAKDOWN_PARAMETERS, LIMIT_MAX, PAGE_MAX, type Query, readQuery } from '../reports/read-query.ts';
import { METRIC_NAMES, type MetricName } from '../reports/report-metrics.ts';
import { answerReport } from '../reports/report-request.ts';

const LIMIT_DEFAULT = 100;
const ORDER_DEFAULT = 'visitors:desc';

/** Returns the numbers of a site by page, source, country or another dimension (docs/stats.md). */
export async function breakdown(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, BREAKDOWN_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const by = readBreakdown(query.value);
  if ('problem' in by) return invalid(by.problem);
  const numbers = { by: by.value.by, metrics: [by.value.order.metric, ...by.value.metrics] };
  return answerReport(
    deps,
    { site, context },
    query.value,
    async (request, reading) => ({ value: await breakdownReport(request, by.value, reading) }),
    numbers,
  );
}

function readBreakdown(query: Query): Checked<BreakdownRequest> {
  const by = readDimension(query.dimension ?? '');
  if ('problem' in by) return by;
  const [metricName, direction = 'desc', ...more] = (query.order ?? ORDER_DEFAULT).split(':');
  const metric = METRIC_NAMES.find((name) => name === metricName);
  if (metric === undefined || (direction !== 'asc' && direction !== 'desc') || more.length > 0) {
    return { problem: `order must be one of ${METRIC_NAMES.join(', ')}, with :asc or :desc after it` };
  }
  const metrics = readMetrics(query.metrics);
  if ('problem' in metrics) return metrics;
  const limit = readCount('limit', query.limit, { max: LIMIT_MAX, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return limit;
  const page = readCount('page', query.page, { max: PAGE_MAX, otherwise: 1 });
  if ('problem' in page) return page;
  return {
    value: {
      ...{ by: by.value, order: { metric, direction }, metrics: metrics.value },
      ...{ limit: limit.value, page: page.value },
    },
  };
}

/** Reads a list of metrics, such as `visitors,pageviews`. The default is all metrics. */
function readMetrics(text: string | undefined): Checked<readonly MetricName[]> {
  if (text === undefined) return { value: METRIC_NAMES };
  const asked = text.split(',');
  const isMetric = (name: string): name is MetricName => METRIC_NAMES.some((one) => one === name);
  if (asked.every(isMetric) && new Set(asked).size === asked.length) return { value: asked };
  return { problem: `metrics must be a list of ${METRIC_NAMES.join(', ')}, each at most once` };
}
