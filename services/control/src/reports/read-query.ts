import type { Checked } from '../http/compile-body.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';

/** The query parameters of reports and exports. Each may be sent once, except `filter` and `step`, which may be sent several times. */
export type QueryName =
  | 'period'
  | 'from'
  | 'to'
  | 'timezone'
  | 'compare'
  | 'filter'
  | 'bots'
  | 'explain'
  | 'exact'
  | 'interval'
  | 'dimension'
  | 'order'
  | 'metrics'
  | 'limit'
  | 'page'
  | 'search'
  | 'goal'
  | 'path'
  | 'step'
  | 'within'
  | 'funnel'
  | 'format'
  | 'since'
  | 'until';

export type Query = Readonly<Partial<Record<QueryName, string>>> & {
  readonly filters: readonly string[];
  readonly steps: readonly string[];
};

const REPORT_PARAMETERS: readonly QueryName[] = [
  ...(['period', 'from', 'to', 'timezone', 'compare'] as const),
  ...(['filter', 'bots', 'explain'] as const),
];
const UNCOMPARED_PARAMETERS = REPORT_PARAMETERS.filter((name) => name !== 'compare');
export const STATS_PARAMETERS: readonly QueryName[] = [...REPORT_PARAMETERS, 'exact', 'interval'];
export const BREAKDOWN_PARAMETERS: readonly QueryName[] = [
  ...REPORT_PARAMETERS,
  ...(['exact', 'dimension', 'order', 'metrics', 'limit', 'page'] as const),
];
export const CONVERSIONS_PARAMETERS: readonly QueryName[] = [
  ...UNCOMPARED_PARAMETERS,
  ...(['goal', 'dimension', 'order', 'limit', 'page'] as const),
];
export const FUNNEL_PARAMETERS: readonly QueryName[] = [...UNCOMPARED_PARAMETERS, 'step', 'within', 'funnel'];
export const COHORT_INTERVALS = ['day', 'week', 'month'] as const;
export const COHORTS_PARAMETERS: readonly QueryName[] = [...UNCOMPARED_PARAMETERS, 'interval'];
export const JOURNEYS_PARAMETERS: readonly QueryName[] = [...UNCOMPARED_PARAMETERS, 'path', 'limit'];
export const PROPERTIES_PARAMETERS: readonly QueryName[] = [...UNCOMPARED_PARAMETERS, 'limit'];
export const REALTIME_PARAMETERS: readonly QueryName[] = ['filter', 'bots', 'explain', 'limit'];
const OVERVIEW_PERIOD: readonly QueryName[] = ['period', 'from', 'to', 'interval'];
export const OVERVIEW_PARAMETERS: readonly QueryName[] = [
  ...OVERVIEW_PERIOD,
  ...(['bots', 'explain', 'search', 'limit', 'page'] as const),
];

export const EXPORT_PARAMETERS: readonly QueryName[] = ['format', 'since', 'until', 'filter'];

export const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;
export const PAGE_MAX = 100;
export const REALTIME_LIMIT_MAX = 100;

export function readQuery(url: string, known: readonly QueryName[]): Checked<Query> {
  const read = readParameters(url, known, ['filter', 'step']);
  if ('problem' in read) return read;
  const once = read.value.filter(([name]) => name !== 'filter' && name !== 'step');
  const valuesOf = (wanted: QueryName) => read.value.filter(([name]) => name === wanted).map(([, value]) => value);
  return { value: { ...Object.fromEntries(once), filters: valuesOf('filter'), steps: valuesOf('step') } };
}

export function readChoice<Choice extends string>(
  name: QueryName,
  text: string | undefined,
  choices: readonly Choice[],
): Checked<Choice | undefined> {
  if (text === undefined) return { value: undefined };
  const choice = choices.find((candidate) => candidate === text);
  return choice === undefined ? { problem: `${name} must be one of ${choices.join(', ')}` } : { value: choice };
}

/** The metric by which a report sorts its rows. */
export interface Order<Metric extends string> {
  readonly metric: Metric;
  readonly direction: 'asc' | 'desc';
}

/** Reads a metric with a direction after it, such as `visitors:asc`. The default direction is `desc`. */
export function readOrder<Metric extends string>(text: string, metrics: readonly Metric[]): Checked<Order<Metric>> {
  const [name, direction = 'desc', ...more] = text.split(':');
  const metric = metrics.find((one) => one === name);
  return metric === undefined || (direction !== 'asc' && direction !== 'desc') || more.length > 0
    ? { problem: `order must be one of ${metrics.join(', ')}, with :asc or :desc after it` }
    : { value: { metric, direction } };
}

/** Reads `limit` (the number of rows of a page of the answer) and `page`. */
export function readPage(query: Query, max = LIMIT_MAX): Checked<{ readonly limit: number; readonly page: number }> {
  const limit = readCount('limit', query.limit, { max, otherwise: LIMIT_DEFAULT });
  if ('problem' in limit) return limit;
  const page = readCount('page', query.page, { max: PAGE_MAX, otherwise: 1 });
  return 'problem' in page ? page : { value: { limit: limit.value, page: page.value } };
}
