import { useMemo } from 'react';
import { navigate, useLocation, withQuery } from '../app/location.ts';
import { isZone } from '../i18n/known-zone.ts';
import { isDone } from './dimension-view.ts';
import { formatFilter, parseFilter, type ReportFilter } from './filter-text.ts';
import { METRICS, type MetricName } from './report-metrics-view.ts';

export const PERIODS = ['today', 'yesterday', '24h', '7d', '30d', '90d', '12mo', 'month', 'year', 'all'] as const;
export const COMPARISONS = ['previous_period', 'previous_year'] as const;
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];
type Comparison = (typeof COMPARISONS)[number];
type Interval = (typeof INTERVALS)[number];
const PERIOD_DEFAULT: Period = '30d';

/** The parameters that all reports share, as the admin API takes them. */
interface ReportQuery {
  readonly period?: Period;
  readonly from?: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly filter?: readonly string[];
  readonly bots?: 'exclude' | 'include';
}

/** What the address of the page says about the reports. Unknown values are ignored. */
export interface ReportState {
  readonly query: ReportQuery;
  readonly filters: readonly ReportFilter[];
  readonly compare: Comparison | undefined;
  readonly interval: Interval | undefined;
  readonly metric: MetricName;
}

const among = <Value extends string>(values: readonly Value[], text: string | null): Value | undefined =>
  values.find((value) => value === text);
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The number of days of each period. For `month`, `12mo` and `year`, the highest possible number. */
const PERIOD_DAYS: Readonly<Partial<Record<Period, number>>> = {
  ...{ today: 1, yesterday: 1, '24h': 1, '7d': 7, '30d': 30, '90d': 90, month: 31, '12mo': 366, year: 366 },
};
/** The admin API refuses a series with more buckets. */
const BUCKETS_MAX = 2_000;
const DAY_MS = 86_400_000;

/** The intervals that give a series of the period at most `BUCKETS_MAX` buckets. If the length of the period is unknown, all but hours. */
export function intervalsOf({ period, from = '', to = '' }: ReportQuery): readonly Interval[] {
  const days = period === undefined ? (Date.parse(to) - Date.parse(from)) / DAY_MS + 1 : PERIOD_DAYS[period];
  // When clocks change, a period has up to two hours more.
  const buckets = { hour: 24 * (days ?? Number.POSITIVE_INFINITY) + 2, day: days ?? 0, week: 0, month: 0 };
  return INTERVALS.filter((interval) => buckets[interval] <= BUCKETS_MAX);
}

/** Whether the text is a day of the calendar, as YYYY-MM-DD. */
function isDate(text: string): boolean {
  const ms = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

export function readReportState(parameters: URLSearchParams): ReportState {
  const from = parameters.get('from');
  const to = parameters.get('to');
  const isRange = from !== null && to !== null && isDate(from) && isDate(to) && from <= to;
  const timezone = parameters.get('timezone');
  const filters = parameters.getAll('filter').flatMap((text) => parseFilter(text) ?? []);
  return {
    query: {
      ...(isRange ? { from, to } : { period: among(PERIODS, parameters.get('period')) ?? PERIOD_DEFAULT }),
      ...(timezone !== null && isZone(timezone) && { timezone }),
      ...(filters.length > 0 && { filter: filters.map(formatFilter) }),
      ...(parameters.get('bots') === 'include' && { bots: 'include' }),
    },
    filters,
    compare:
      parameters.get('compare') === 'none'
        ? undefined
        : (among(COMPARISONS, parameters.get('compare')) ?? 'previous_period'),
    interval: among(INTERVALS, parameters.get('interval')),
    metric: among(METRICS, parameters.get('metric')) ?? 'visitors',
  };
}

export function useReportState(): ReportState {
  const { query } = useLocation();
  return useMemo(() => readReportState(query), [query]);
}

/** Changes parameters of the address. Undefined removes one. The back button of the browser undoes the change. */
export function changeReport(change: Readonly<Record<string, string | undefined>>): void {
  navigate(
    withQuery((query) => {
      for (const [name, value] of Object.entries(change)) {
        if (value === undefined) query.delete(name);
        else query.set(name, value);
      }
    }),
    { here: true },
  );
}

export function setFilters(filters: readonly ReportFilter[]): void {
  navigate(
    withQuery((query) => {
      query.delete('filter');
      for (const filter of filters) query.append('filter', formatFilter(filter));
    }),
    { here: true },
  );
}

/** The ID of the text that says that no filter can be added. The report bar shows it while there are `FILTERS_MAX` filters. */
export const FULL_ID = 'filters-full';

/** Adds a filter. If the admin API would refuse it, moves the focus to the text that says why instead. */
export function addFilter(filters: readonly ReportFilter[], added: ReportFilter): void {
  if (canAddFilter(filters, added)) setFilters(withFilter(filters, added));
  else document.getElementById(FULL_ID)?.focus();
}

/**
 * Adds a filter. It replaces a filter of the same dimension with the same operator. If the operator excludes values, the new filter excludes the
 * values of both, or both filters stay if these are too many values for one. Filters on what visitors have done are not replaced, because a visitor
 * can have done several things.
 */
export function withFilter(filters: readonly ReportFilter[], added: ReportFilter): readonly ReportFilter[] {
  const isSame = (one: ReportFilter) => one.dimension === added.dimension && one.operator === added.operator;
  const excludes = added.operator.endsWith('_not');
  const kept = excludes ? filters.filter(isSame).flatMap(({ values }) => values) : [];
  const values = [...new Set([...kept, ...added.values])];
  if (excludes ? values.length > FILTER_VALUES_MAX : isDone(added.dimension)) {
    return [...filters.filter((one) => formatFilter(one) !== formatFilter(added)), added];
  }
  return [...filters.filter((one) => !isSame(one)), { ...added, values }];
}

/** The admin API refuses more filters. */
export const FILTERS_MAX = 20;
/** The admin API refuses a filter with more values. */
export const FILTER_VALUES_MAX = 50;

/** Whether the admin API accepts the filters with the added one. */
export function canAddFilter(filters: readonly ReportFilter[], added: ReportFilter): boolean {
  return withFilter(filters, added).length <= FILTERS_MAX;
}
