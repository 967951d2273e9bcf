/** The counts that the SQL statements return. `metricsOf` computes the answer from them. docs/stats.md defines each number. */
export interface Counts {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  /** The number of visits that bounced. `seconds` and `views` are sums over all visits. */
  readonly bounces: number;
  readonly seconds: number;
  readonly views: number;
}

export type CountName = keyof Counts;

/** An estimated number of visitors, with the bound of its relative error. */
export interface Estimate {
  readonly value: number;
  readonly exact: false;
  readonly error: number;
}

/** The bound of the relative error. It is more than three standard errors of `uniqCombined64(17)` and `uniqCombined(17)`. */
export const ESTIMATE_ERROR = 0.01;
/** `uniqCombined64(17)` counts exactly up to this number of values (measured). */
export const ESTIMATE_EXACT_MAX = 4_000;
/**
 * `uniqCombined(17)`, with which months are counted, has hashes of 32 bits. Up to this number of values, the probability that two of them have the same
 * hash is about 1 in a million, so the number is still called exact.
 */
export const MONTH_EXACT_MAX = 100;

export interface Metrics {
  readonly visitors: number | Estimate;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  /** Between 0 and 1. This field and the next two are null if there are no visits. */
  readonly bounce_rate: number | null;
  /** The average duration of a visit in seconds. */
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

export type MetricName = keyof Metrics;

/** The counts from which each metric is computed. An average has two counts: the divisor and the sum. */
const COUNTS_OF: Readonly<Record<MetricName, readonly CountName[]>> = {
  visitors: ['visitors'],
  visits: ['visits'],
  pageviews: ['pageviews'],
  events: ['events'],
  bounce_rate: ['visits', 'bounces'],
  visit_duration: ['visits', 'seconds'],
  views_per_visit: ['visits', 'views'],
};
export const METRIC_NAMES = Object.keys(COUNTS_OF) as readonly MetricName[];

/** The metric as an SQL expression over the columns of `Counts`, for ORDER BY. */
export function metricSql(name: MetricName): string {
  return COUNTS_OF[name].toReversed().join(' / ');
}

/** The counts from which these metrics are computed. */
export function countNamesOf(names: readonly MetricName[]): readonly CountName[] {
  return [...new Set(names.flatMap((name) => COUNTS_OF[name]))];
}

/** Whether a report must count visits to return one of these metrics. The other ones are counted from rows alone. */
export function needsVisits(names: readonly MetricName[]): boolean {
  return countNamesOf(names).includes('visits');
}

export function pickMetrics(metrics: Metrics, names: readonly MetricName[]): Partial<Metrics> {
  return Object.fromEntries(names.map((name) => [name, metrics[name]]));
}

export const NO_COUNTS: Counts = { visitors: 0, visits: 0, pageviews: 0, events: 0, bounces: 0, seconds: 0, views: 0 };

export const COUNT_NAMES = Object.keys(NO_COUNTS) as readonly CountName[];

/** The counts of a row; 0 for those that the statement does not return. ClickHouse may send 64-bit numbers as text. */
export function countsOf(row: Readonly<Record<string, unknown>>): Counts {
  return Object.fromEntries(COUNT_NAMES.map((name) => [name, Number(row[name] ?? 0)])) as unknown as Counts;
}

/** The ratio with `decimals` decimals. Null if `of` is 0. */
export function ratio(part: number, of: number, decimals = 4): number | null {
  return of === 0 ? null : Number((part / of).toFixed(decimals));
}

/** `exactMax`: a larger number of visitors is an estimate (`exactVisitorsMax` in report-sql.ts). */
export function metricsOf(
  { visitors, visits, pageviews, events, bounces, seconds, views }: Counts,
  exactMax = Number.POSITIVE_INFINITY,
): Metrics {
  return {
    visitors: visitors > exactMax ? { value: visitors, exact: false, error: ESTIMATE_ERROR } : visitors,
    visits,
    pageviews,
    events,
    bounce_rate: ratio(bounces, visits),
    visit_duration: ratio(seconds, visits, 2),
    views_per_visit: ratio(views, visits, 2),
  };
}

/** The relative change of each metric: 0.25 means 25 % more than before. Null if the earlier number is 0 or null. */
export function changeOf(now: Metrics, before: Metrics): Readonly<Record<MetricName, number | null>> {
  const change = (name: MetricName): number | null => {
    const [to, from] = [numberOf(now[name]), numberOf(before[name])];
    return to === null || from === null ? null : ratio(to - from, from);
  };
  return Object.fromEntries(METRIC_NAMES.map((name) => [name, change(name)])) as Record<MetricName, number | null>;
}

function numberOf(metric: number | Estimate | null): number | null {
  return typeof metric === 'object' && metric !== null ? metric.value : metric;
}
