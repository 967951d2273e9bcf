import { count, jsonResponse, object, type Schema, successBody, text, time } from '@weir/runtime/http/openapi';
import { OVERVIEW_SITES_MAX } from '../reports/overview/overview-report.ts';
import { PERIODS } from '../reports/period.ts';
import { OVERVIEW_PARAMETERS } from '../reports/read-query.ts';
import type { AdminOperation } from './admin-operations.ts';
import { exactTotals, parametersOf, period, statements } from './report-operations.ts';

const OWN: Readonly<Record<string, Schema>> = {
  period: {
    name: 'period',
    in: 'query',
    description: 'Instead of from and to; default 30d. Days are those of each site’s time zone, including today.',
    schema: { enum: PERIODS.filter((name) => name !== 'all') },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'The number of sites on a page. Default: 100.',
    schema: { type: 'integer', minimum: 1, maximum: OVERVIEW_SITES_MAX },
  },
};

const site = {
  ...{ site_id: text, name: text, domain: text, timezone: text, totals: exactTotals, before: exactTotals },
  change: { type: 'object' },
  last_5_minutes: object({ visitors: count }),
  series: { type: 'array', items: count, description: 'The visitors of each bucket.' },
};
const answer = {
  ...{ limit: count, page: count, has_more: { type: 'boolean' }, interval: text, bots: text },
  periods: {
    type: 'array',
    description: 'The period, once for each time zone of these sites.',
    items: object({ timezone: text, ...period, starts: { type: 'array', items: time }, comparison: object(period) }),
  },
  sites: { type: 'array', items: object(site) },
};

export const OVERVIEW_OPERATION: AdminOperation = {
  id: 'overview',
  summary: 'The totals of all sites, with the change against the period before and a small series',
  parameters: parametersOf(OVERVIEW_PARAMETERS).map((parameter) => OWN[String(parameter.name)] ?? parameter),
  responses: {
    200: jsonResponse(
      'One page of the sites, in the order of their IDs.',
      successBody(object({ ...answer, explain: object({ statements }) }, Object.keys(answer))),
    ),
  },
};
