import type { AdminDeps } from '../control-deps.ts';
import { invalid, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { type BreakdownRequest, breakdownReport } from '../reports/breakdown-report.ts';
import { readDimension } from '../reports/dimensions.ts';
import { BREAKDOWN_PARAMETERS, type Query, readOrder, readPage, readQuery } from '../reports/read-query.ts';
import { METRIC_NAMES, type MetricName } from '../reports/report-metrics.ts';
import { answerReport } from '../reports/report-request.ts';

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
  const order = readOrder(query.order ?? ORDER_DEFAULT, METRIC_NAMES);
  if ('problem' in order) return order;
  const metrics = readMetrics(query.metrics);
  if ('problem' in metrics) return metrics;
  const page = readPage(query);
  if ('problem' in page) return page;
  return { value: { by: by.value, order: order.value, metrics: metrics.value, ...page.value } };
}

/** Reads a list of metrics, such as `visitors,pageviews`. The default is all metrics. */
function readMetrics(text: string | undefined): Checked<readonly MetricName[]> {
  if (text === undefined) return { value: METRIC_NAMES };
  const asked = text.split(',');
  const isMetric = (name: string): name is MetricName => METRIC_NAMES.some((one) => one === name);
  if (asked.every(isMetric) && new Set(asked).size === asked.length) return { value: asked };
  return { problem: `metrics must be a list of ${METRIC_NAMES.join(', ')}, each at most once` };
}
