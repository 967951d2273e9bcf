import { count, jsonResponse, object, type Schema, successBody, text, time } from '@weir/runtime/http/openapi';
import {
  BREAKDOWN_PARAMETERS,
  PROPERTIES_PARAMETERS,
  type QueryName,
  STATS_PARAMETERS,
} from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { REPORT_PARAMETER_SCHEMAS } from './report-parameters.ts';

export const mean: Schema = { type: ['number', 'null'] };
const estimate: Schema = {
  ...object({
    value: count,
    exact: { const: false },
    error: { type: 'number', description: 'The bound of the relative error.' },
  }),
  description: 'An estimate (docs/stats.md). With exact=1, there are none.',
};
const exactMetrics = {
  visitors: count,
  visits: count,
  pageviews: count,
  events: count,
  bounce_rate: {
    ...mean,
    maximum: 1,
    description: 'bounce_rate, visit_duration and views_per_visit are null if there are no visits.',
  },
  visit_duration: { ...mean, description: 'Seconds.' },
  views_per_visit: mean,
};
export const period = { from: time, to: { ...time, description: 'Not part of the period.' } };
const metrics = { ...exactMetrics, visitors: { anyOf: [count, estimate] } };
const totals = object(metrics);
export const exactTotals = object(exactMetrics);
const buckets: Schema = { type: 'array', items: object({ start: time, end: time, ...metrics }) };
export const statements: Schema = {
  type: 'array',
  items: object({ of: text, sql: text, params: { type: 'object' } }),
};
export const explain: Schema = {
  ...object({
    statements,
    left_out: {
      ...object({
        rows: {
          ...count,
          description: 'All rows of the period: the sum of counted, bots, internal_events and filtered.',
        },
        ...{ counted: count, bots: count, internal_events: count, filtered: count },
        ...{ without_visitor: count, without_visit: count, visits_begun_before: count },
        never_stored: { type: 'array', items: object({ outcome: text, reason: text, records: count }) },
      }),
    },
  }),
  description: 'With explain=1.',
};
export const head = { site_id: text, timezone: text, ...period, bots: text };
const properties = {
  ...{ ...head, limit: count, has_more: { type: 'boolean' } },
  properties: { type: 'array', items: object({ name: text, visitors: count, pageviews: count, events: count }) },
};
const required = [...Object.keys(head), 'totals', 'buckets', 'interval'];

export const parametersOf = (names: readonly QueryName[]): readonly Schema[] =>
  names.map((name) => ({ name, in: 'query', ...REPORT_PARAMETER_SCHEMAS[name] }));

/** docs/stats.md defines each number of these reports. */
export const REPORT_OPERATIONS = {
  stats: {
    id: 'stats',
    summary: 'The numbers of a site, in total and by time',
    parameters: parametersOf(STATS_PARAMETERS),
    responses: {
      200: jsonResponse(
        'The numbers.',
        successBody(
          object(
            {
              ...head,
              interval: text,
              totals,
              buckets,
              comparison: object({ ...period, totals, buckets, change: { type: 'object' } }),
              explain,
            },
            required,
          ),
        ),
      ),
      ...NOT_FOUND,
    },
  },
  breakdown: {
    id: 'breakdown',
    summary: 'The numbers of a site by page, source, country and so on',
    parameters: parametersOf(BREAKDOWN_PARAMETERS),
    responses: {
      200: jsonResponse(
        'One page of the values, with the numbers of each value.',
        successBody(
          object(
            {
              ...head,
              ...{ dimension: text, order: text, limit: count, page: count },
              has_more: { type: 'boolean' },
              rows: {
                type: 'array',
                items: object({ value: text, ...metrics, before: object(metrics, []) }, ['value']),
              },
              comparison: object(period),
              explain,
            },
            [...Object.keys(head), 'dimension', 'rows', 'has_more'],
          ),
        ),
      ),
      ...NOT_FOUND,
    },
  },
  properties: {
    id: 'properties',
    summary: 'The names of the custom properties in a period',
    parameters: parametersOf(PROPERTIES_PARAMETERS),
    responses: {
      200: jsonResponse(
        'The properties, those of the most events first.',
        successBody(object({ ...properties, explain }, Object.keys(properties))),
      ),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;
