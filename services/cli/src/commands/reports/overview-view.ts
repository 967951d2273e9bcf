import type { AdminClient } from '../../admin-client.ts';
import { table } from '../../output.ts';
import { type MetricsView, type ReportOptions, reportQuery } from './report-query.ts';

interface PageView {
  readonly has_more: boolean;
  readonly interval: string;
  readonly periods: readonly { readonly timezone: string }[];
  readonly sites: readonly SiteNumbersView[];
  readonly explain?: { readonly statements: readonly object[] };
}

interface SiteNumbersView {
  readonly site_id: string;
  readonly name: string;
  /** `visitors` is always a number, because this report never estimates it. */
  readonly totals: MetricsView & { readonly visitors: number };
  readonly change: Readonly<Record<keyof MetricsView, number | null>>;
  readonly series: readonly number[];
}

export type OverviewView = Omit<PageView, 'has_more'>;

/** Reads the totals of all sites, page by page. */
export async function readOverview(
  client: AdminClient,
  options: ReportOptions & { readonly interval?: string },
): Promise<OverviewView> {
  const pages: PageView[] = [];
  const asked = { ...options, exact: false };
  let hasMore = true;
  for (let page = 1; hasMore; page++) {
    const query = reportQuery(asked, { interval: options.interval, limit: '500', page: String(page) });
    const answer = await client.call<PageView>('GET', `/stats?${query}`);
    pages.push(answer);
    hasMore = answer.has_more;
  }
  const periods = new Map(pages.flatMap((page) => page.periods).map((period) => [period.timezone, period]));
  const statements = pages.flatMap(({ explain }) => explain?.statements ?? []);
  return {
    interval: pages[0]?.interval ?? '',
    periods: [...periods.values()],
    sites: pages.flatMap(({ sites }) => sites),
    ...(statements.length === 0 ? {} : { explain: { statements } }),
  };
}

export function humanOverview({ interval, sites, explain }: OverviewView): string {
  const heads = ['site', 'name', 'visitors', 'change', 'visits', 'pageviews', 'events', `visitors by ${interval}`];
  const rows = sites
    .toSorted((a, b) => b.totals.visitors - a.totals.visitors)
    .map(({ site_id: siteId, name, totals, change, series }) => [
      siteId,
      name,
      totals.visitors,
      change.visitors === null ? '-' : `${change.visitors >= 0 ? '+' : ''}${(change.visitors * 100).toFixed(1)}%`,
      totals.visits,
      totals.pageviews,
      totals.events,
      sparkline(series),
    ]);
  return [table(heads, rows, 'no sites'), ...(explain?.statements ?? []).map((one) => JSON.stringify(one))].join('\n');
}

const BARS = [...'▁▂▃▄▅▆▇█'];

/** Draws the numbers as a line of bars. The highest number has the highest bar. */
function sparkline(numbers: readonly number[]): string {
  const highest = Math.max(1, ...numbers);
  return numbers.map((number) => BARS[Math.ceil((number / highest) * (BARS.length - 1))]).join('');
}
