import { EXPORT_FORMATS } from '@weir/domain/dump/export-kinds';
import { EVENT_NAME_CHARS_MAX, FUNNEL_STEPS_MAX, FUNNEL_STEPS_MIN } from '@weir/domain/registry/goal';
import { type Schema, text } from '@weir/runtime/http/openapi';
import { INTERVALS } from '../reports/buckets.ts';
import { COLUMN_DIMENSION_NAMES, DONE_DIMENSION_NAMES, PROPERTY_NAME_CHARS_MAX } from '../reports/dimensions.ts';
import { FILTER_VALUE_CHARS_MAX, FILTER_VALUES_MAX, FILTERS_MAX } from '../reports/filter.ts';
import { COMPARISONS, PERIODS } from '../reports/period.ts';
import { LIMIT_MAX, PAGE_MAX, type QueryName } from '../reports/read-query.ts';
import { METRIC_NAMES } from '../reports/report-metrics.ts';

const YEAR = '(?:19[7-9][0-9]|20[0-9]{2})';
const LEAP_YEAR = '(?:19(?:72|76|80|84|88|92|96)|20(?:[02468][048]|[13579][26]))';
const DATE = [
  `${YEAR}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])`,
  `${YEAR}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)`,
  `${YEAR}-02-(?:0[1-9]|1[0-9]|2[0-8])`,
  `${LEAP_YEAR}-02-29`,
].join('|');
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?';
const OFFSET = '(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])';
/** A date, or an ISO 8601 time from 1970 (inclusive) to 2100 (exclusive). Weir also accepts other spellings of ISO 8601. */
const MOMENT: Schema = { ...text, pattern: `^(?:${DATE})(?:T${TIME}${OFFSET}?)?$` };

// An unescaped character of a filter value. The patterns do not limit the length of values, because they would then be too large for some tools.
const PLAIN = '[^\\\\,\\u0000-\\u001f]';
const CHAR = `(?:${PLAIN}|\\\\[^\\u0000-\\u001f])`;
const listOf = (value: string): string => `${value}(?:,${value}){0,${FILTER_VALUES_MAX - 1}}`;
const EXACT_VALUES = listOf(`${CHAR}*`);
/** For filters that refuse empty values (filter.ts). For example, a filter `contains` with an empty value would select all rows. */
const PART_VALUES = listOf(`${CHAR}+`);
const PROPERTY_CHAR = '(?:[^\\\\:\\u0000-\\u001f]|\\\\[^\\u0000-\\u001f])';
const FILTER_DIMENSION = `(?:${COLUMN_DIMENSION_NAMES.join('|')}|property:${PROPERTY_CHAR}+)`;
const OWN_FILTER = `${FILTER_DIMENSION}:(?:is(?:_not)?:${EXACT_VALUES}|(?:contains|matches)(?:_not)?:${PART_VALUES})`;
const DONE_FILTER = `(?:${DONE_DIMENSION_NAMES.join('|')}):(?:is|contains|matches)(?:_not)?:${PART_VALUES}`;
const FILTER = `^(?:${OWN_FILTER}|${DONE_FILTER})$`;

const PRINTED = '[^\\u0000-\\u001f\\u007f-\\u009f]';
export const STEP = `^(?:event:[^$\\u0000-\\u001f\\u007f-\\u009f]${PRINTED}{0,${EVENT_NAME_CHARS_MAX - 1}}|page:[/*]${PRINTED}*)$`;
export const WITHIN = '^[0-9]{1,8}[smhd]$';

export const REPORT_PARAMETER_SCHEMAS: Readonly<Record<QueryName, Schema>> = {
  period: {
    description: 'Instead of from and to; default 30d. Days are those of the site’s time zone, including today.',
    schema: { enum: PERIODS },
  },
  from: { description: 'A local date, or an ISO 8601 time.', schema: MOMENT },
  to: {
    description:
      'A local date, which is part of the period (default: today), or an ISO 8601 time, which is not. Later than from.',
    schema: MOMENT,
  },
  timezone: {
    description: 'The IANA time zone of days and buckets. Default: that of the site.',
    schema: { ...text, minLength: 1, maxLength: 64 },
  },
  compare: { description: 'Adds the numbers of another period.', schema: { enum: COMPARISONS } },
  filter: {
    description:
      'DIMENSION:OPERATOR:VALUE,VALUE, for example country:is:DE,FR. Operators: is, is_not, contains, contains_not, matches, matches_not (* stands for any characters). All filters must hold. done_event and viewed_page select visitors by what they have done in the period. A backslash before , : or \\ makes it an ordinary character. ' +
      `At most ${FILTER_VALUES_MAX} values of at most ${FILTER_VALUE_CHARS_MAX} chars.`,
    schema: { type: 'array', maxItems: FILTERS_MAX, items: { ...text, pattern: FILTER } },
    style: 'form',
    explode: true,
  },
  bots: { description: 'Default: exclude.', schema: { enum: ['exclude', 'include'] } },
  explain: { description: '1: adds the SQL with its parameters, and what was left out.', schema: { enum: ['0', '1'] } },
  exact: {
    description: '1: counts visitors exactly, whatever it takes. Default 0: estimates them in very large reports.',
    schema: { enum: ['0', '1'] },
  },
  interval: {
    description: 'The default depends on the length of the period. At most 2,000 buckets.',
    schema: { enum: INTERVALS },
  },
  dimension: {
    description: 'What to break down by; property:NAME is a custom property.',
    required: true,
    schema: {
      anyOf: [
        { enum: COLUMN_DIMENSION_NAMES },
        { ...text, pattern: `^property:[^\\u0000-\\u001f]{1,${PROPERTY_NAME_CHARS_MAX}}$` },
      ],
    },
  },
  path: {
    description: 'The page, as the dimension page has it.',
    required: true,
    schema: { ...text, pattern: `^[^\\u0000-\\u001f]{1,${FILTER_VALUE_CHARS_MAX}}$` },
  },
  step: {
    description:
      'event:NAME or page:GLOB (* stands for any characters), 2 to 8 times, in the order of the steps. Required without funnel.',
    schema: {
      type: 'array',
      minItems: FUNNEL_STEPS_MIN,
      maxItems: FUNNEL_STEPS_MAX,
      items: { ...text, pattern: STEP },
    },
    style: 'form',
    explode: true,
  },
  within: {
    description:
      'The longest time from the first step to the last one: up to 366 days, such as 30m, 24h or 7d (the default).',
    schema: { ...text, pattern: WITHIN },
  },
  funnel: { description: 'The ID of a saved funnel, instead of step and within.', schema: text },
  goal: { description: 'The ID of one goal. Default: all goals.', schema: text },
  order: {
    description: 'Default: visitors:desc.',
    schema: { ...text, pattern: `^(?:${METRIC_NAMES.join('|')})(?::(?:asc|desc))?$` },
  },
  metrics: {
    description:
      'The numbers of each row, separated by commas. Default: all. A report without numbers of visits needs less time.',
    schema: {
      ...text,
      pattern: `^(?:${METRIC_NAMES.join('|')})(?:,(?:${METRIC_NAMES.join('|')})){0,${METRIC_NAMES.length - 1}}$`,
    },
  },
  limit: { description: 'Default: 100.', schema: { type: 'integer', minimum: 1, maximum: LIMIT_MAX } },
  format: {
    description: 'Default: ndjson. For everything, only ndjson is allowed.',
    schema: { enum: EXPORT_FORMATS },
  },
  since: { description: 'An ISO 8601 time, without an offset in UTC, or Unix milliseconds.', schema: MOMENT },
  until: { description: 'Like since; later than it. Not part of the export.', schema: MOMENT },
  search: {
    description: 'Only sites whose name, domain or ID contains this text, in upper or lower case.',
    schema: { type: 'string' },
  },
  page: { description: 'Default: 1.', schema: { type: 'integer', minimum: 1, maximum: PAGE_MAX } },
};
