/** What the statements count; `metricsOf` makes the answer of it. docs/stats.md says what each number means. */
export interface Counts {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  /** Of the visits: those that bounced, their seconds and their pageviews. */
  readonly bounces: number;
  readonly seconds: number;
  readonly views: number;
}

export interface Metrics {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  /** Between 0 and 1; null, like the two below, where there are no visits. */
  readonly bounce_rate: number | null;
  /** Seconds of an average visit. */
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

export type MetricName = keyof Metrics;

/** Each as an expression over the columns of `Counts`, to order by. */
export const METRIC_SQL: Readonly<Record<MetricName, string>> = {
  visitors: 'visitors',
  visits: 'visits',
  pageviews: 'pageviews',
  events: 'events',
  bounce_rate: 'bounces / visits',
  visit_duration: 'seconds / visits',
  views_per_visit: 'views / visits',
};
export const METRIC_NAMES = Object.keys(METRIC_SQL) as readonly MetricName[];

export const NO_COUNTS: Counts = { visitors: 0, visits: 0, pageviews: 0, events: 0, bounces: 0, seconds: 0, views: 0 };

/** Of a row of the analytics store, which may give 64-bit numbers as text. */
export function countsOf(row: Readonly<Record<string, unknown>>): Counts {
  const names = Object.keys(NO_COUNTS) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, Number(row[name])])) as unknown as Counts;
}

export function metricsOf({ visitors, visits, pageviews, events, bounces, seconds, views }: Counts): Metrics {
  const each = (sum: number, decimals: number): number | null =>
    visits === 0 ? null : Number((sum / visits).toFixed(decimals));
  return {
    visitors,
    visits,
    pageviews,
    events,
    bounce_rate: each(bounces, 4),
    visit_duration: each(seconds, 2),
    views_per_visit: each(views, 2),
  };
}

/** How much more, as a share of what it was: 0.25 is a quarter more. Null where it was nothing. */
export function changeOf(now: Metrics, before: Metrics): Readonly<Record<MetricName, number | null>> {
  const change = (name: MetricName): number | null => {
    const [to, from] = [now[name], before[name]];
    return to === null || from === null || from === 0 ? null : Number(((to - from) / from).toFixed(4));
  };
  return Object.fromEntries(METRIC_NAMES.map((name) => [name, change(name)])) as Record<MetricName, number | null>;
}
