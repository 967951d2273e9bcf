import { call, inPath, NOT_FOUND } from './admin-paths.ts';
import type { Schema } from './request-schemas.ts';
import { json, object, success, text } from './responses.ts';

const count: Schema = { type: 'integer', minimum: 0 };
const mean: Schema = { type: ['number', 'null'] };
const time: Schema = { type: 'string', format: 'date-time' };
const metrics = {
  visitors: count,
  visits: count,
  pageviews: count,
  events: count,
  bounce_rate: { ...mean, maximum: 1, description: 'Null, like the two below, where there are no visits.' },
  visit_duration: { ...mean, description: 'Seconds.' },
  views_per_visit: mean,
};
const period = { from: time, to: { ...time, description: 'The first moment after it.' } };
const totals = object(metrics);
const buckets: Schema = { type: 'array', items: object({ start: time, end: time, ...metrics }) };
const explain: Schema = {
  ...object({
    statements: { type: 'array', items: object({ of: text, sql: text, params: { type: 'object' } }) },
    left_out: {
      ...object({
        rows: { ...count, description: 'Rows of the period; the next four add up to it.' },
        ...{ counted: count, bots: count, internal_events: count, filtered: count },
        ...{ without_visitor: count, without_visit: count, visits_begun_before: count },
        never_stored: { type: 'array', items: object({ outcome: text, reason: text, records: count }) },
      }),
    },
  }),
  description: 'With explain=1.',
};
const head = { site_id: text, timezone: text, ...period, bots: text };
const required = [...Object.keys(head), 'totals', 'buckets', 'interval'];

const query = (name: string, schema: Schema, description: string, more: Schema = {}): Schema => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
});
const choice = (name: string, choices: readonly string[], description: string): Schema =>
  query(name, { enum: choices }, description);

const COMMON: readonly Schema[] = [
  choice(
    'period',
    ['24h', 'today', 'yesterday', '7d', '30d', '90d', '12mo', 'month', 'year', 'all'],
    'Instead of from and to; default 30d. Days are those of the site’s time zone, today included.',
  ),
  query('from', text, 'A local date, or an ISO 8601 time.'),
  query('to', text, 'A local date, itself included (default: today), or an ISO 8601 time, itself not included.'),
  choice('compare', ['previous_period', 'previous_year'], 'Another period beside it.'),
  query(
    'filter',
    { type: 'array', maxItems: 20, items: text },
    'DIMENSION:OPERATOR:VALUE,VALUE, for example country:is:DE,FR. Operators: is, is_not, contains, contains_not, matches, matches_not (* stands for any characters). All filters must hold. A backslash before , : or \\ takes its meaning away.',
    { style: 'form', explode: true },
  ),
  choice('bots', ['exclude', 'include'], 'Default: exclude.'),
  choice('explain', ['0', '1'], '1: the SQL with its parameters, and what was left out.'),
];

const DIMENSIONS = [
  ...['page', 'hostname', 'entry', 'exit', 'source', 'channel', 'referrer'],
  ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'],
  ...['country', 'region', 'city', 'language', 'browser', 'browser_version', 'os', 'os_version', 'device'],
  ...['event', 'origin', 'bot'],
];

/** The numbers of a site: docs/stats.md says what each means. */
export const REPORT_PATHS: Readonly<Record<string, Schema>> = {
  '/api/admin/sites/{site_id}/stats': {
    parameters: inPath('site_id'),
    get: {
      ...call('stats', 'The numbers of a site, whole and by time in its zone', {
        200: json(
          'The numbers.',
          success(
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
      }),
      parameters: [
        ...COMMON,
        choice('interval', ['hour', 'day', 'week', 'month'], 'Default: by the length of the period.'),
      ],
    },
  },
  '/api/admin/sites/{site_id}/breakdown': {
    parameters: inPath('site_id'),
    get: {
      ...call('breakdown', 'The numbers of a site by page, source, country and so on', {
        200: json(
          'One page of the values, and the numbers of each.',
          success(
            object(
              {
                ...head,
                ...{ dimension: text, order: text, limit: count, page: count },
                has_more: { type: 'boolean' },
                rows: {
                  type: 'array',
                  items: object({ value: text, ...metrics, before: totals }, ['value', ...Object.keys(metrics)]),
                },
                comparison: object(period),
                explain,
              },
              [...Object.keys(head), 'dimension', 'rows', 'has_more'],
            ),
          ),
        ),
        ...NOT_FOUND,
      }),
      parameters: [
        ...COMMON,
        query(
          'dimension',
          { anyOf: [{ enum: DIMENSIONS }, { type: 'string', pattern: '^property:.{1,256}$' }] },
          'What to break down by; property:NAME is a custom property.',
          { required: true },
        ),
        query(
          'order',
          { type: 'string', pattern: `^(${Object.keys(metrics).join('|')})(:(asc|desc))?$` },
          'Default: visitors:desc.',
        ),
        query('limit', { type: 'integer', minimum: 1, maximum: 1000 }, 'Default: 100.'),
        query('page', { type: 'integer', minimum: 1, maximum: 100 }, 'Default: 1.'),
      ],
    },
  },
};
