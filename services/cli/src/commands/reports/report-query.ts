import type { Command } from 'commander';

/** The options that the commands of reports share. The admin API validates them. */
export interface ReportOptions {
  readonly json?: boolean;
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly filter: readonly string[];
  readonly compare?: string;
  readonly bots?: boolean;
  readonly explain?: boolean;
  readonly exact?: boolean;
}

/** A number of visitors. Very large reports estimate it. */
export type VisitorsView = number | { readonly value: number; readonly exact: false; readonly error: number };

export interface MetricsView {
  readonly visitors: VisitorsView;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  readonly bounce_rate: number | null;
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

export interface ExplainView {
  readonly statements: readonly { readonly of: string; readonly sql: string; readonly params: object }[];
  readonly left_out: Readonly<Record<string, unknown>>;
}

/** Adds the options of a report of one period. */
export function withReportOptions(command: Command): Command {
  return withRowsOptions(withFilterOption(withPeriodOptions(command)));
}

/** Adds the options of a report of the numbers in `MetricsView`. */
export function withMetricsOptions(command: Command): Command {
  return withRowsOptions(
    withFilterOption(withPeriodOptions(command)).option('--compare <with>', 'previous_period or previous_year'),
  ).option('--exact', 'count visitors exactly, also in very large reports');
}

function withPeriodOptions(command: Command): Command {
  return command
    .option('--period <period>', '24h, today, yesterday, 7d, 30d, 90d, 12mo, month, year or all; default: 30d')
    .option('--from <time>', 'a date in the time zone of the site, or an ISO 8601 time')
    .option('--to <time>', 'a date (included), or an ISO 8601 time (not included)')
    .option('--timezone <zone>', 'the IANA time zone of days and buckets; default: that of the site');
}

export function withFilterOption(command: Command): Command {
  return command.option(
    '--filter <filter>',
    'DIMENSION:OPERATOR:VALUE,VALUE; may be repeated; done_event and viewed_page select visitors by what they have done in the period',
    (text, earlier: string[]) => [...earlier, text],
    [],
  );
}

export function withRowsOptions(command: Command): Command {
  return command
    .option('--bots', 'include bots')
    .option('--explain', 'also print the SQL, and which rows were left out');
}

/** Makes the query string of a report from the options that reports share, and from the parameters `own` of this report. */
export function reportQuery(
  options: Omit<ReportOptions, 'json'>,
  own: Readonly<Record<string, string | undefined>>,
): string {
  const { period, from, to, timezone, filter, compare, bots, explain, exact } = options;
  const flags = { bots: bots && 'include', explain: explain && '1', exact: exact && '1' };
  const given = { period, from, to, timezone, compare, ...flags, ...own };
  const query = new URLSearchParams();
  // Weir refuses an empty value, which is usually a variable that is not set. Without it, the report would have another period or order.
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && value !== false) query.append(name, value);
  for (const text of filter) query.append('filter', text);
  return query.toString();
}

/** The length of the date in `2026-03-01T00:00:00+01:00`. */
const DATE_CHARS = 10;

/** How the start of a day, week or month is printed: as a date, because these begin at the begin of a day. */
export const startDate = (start: string): string => start.slice(0, DATE_CHARS);

type Cell = string | number;

/** How the number of a metric is printed. The order is that of the columns of a table. */
const METRIC_COLUMNS: { readonly [Name in keyof MetricsView]: readonly [string, (value: MetricsView[Name]) => Cell] } =
  {
    visitors: ['visitors', visitorsCell],
    visits: ['visits', Number],
    pageviews: ['pageviews', Number],
    events: ['events', Number],
    bounce_rate: ['bounce rate', (bounces) => (bounces === null ? '-' : `${(bounces * 100).toFixed(1)}%`)],
    visit_duration: ['duration', (seconds) => (seconds === null ? '-' : duration(Math.round(seconds)))],
    views_per_visit: ['views/visit', (views) => views ?? '-'],
  };
const METRICS = Object.keys(METRIC_COLUMNS) as readonly (keyof MetricsView)[];

/** The heads of the columns for these metrics. */
export const metricHeads = (metrics: Partial<MetricsView>): readonly string[] =>
  METRICS.filter((name) => name in metrics).map((name) => METRIC_COLUMNS[name][0]);

/** The cells of a table row, in the order of `metricHeads`. */
export const metricCells = (metrics: Partial<MetricsView>): readonly Cell[] =>
  METRICS.filter((name) => name in metrics).map((name) =>
    (METRIC_COLUMNS[name][1] as (value: unknown) => Cell)(metrics[name]),
  );

export function visitorsCell(visitors: VisitorsView): string | number {
  return typeof visitors === 'number' ? visitors : `≈${visitors.value}`;
}

function duration(seconds: number): string {
  return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

export function humanExplain(explain: ExplainView | undefined): readonly string[] {
  if (explain === undefined) return [];
  const statements = explain.statements.map(
    ({ of, sql, params }) => `-- ${of}\n${sql}\n-- with ${JSON.stringify(params)}`,
  );
  return ['', `left out: ${JSON.stringify(explain.left_out)}`, '', ...statements];
}
