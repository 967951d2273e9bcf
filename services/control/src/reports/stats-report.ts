import type { Site } from '@weir/domain/registry/site';
import type { Checked } from '../http/compile-body.ts';
import { bucketStarts, defaultInterval, type Interval, localText } from './buckets.ts';
import { explained } from './excluded-rows.ts';
import type { Period } from './period.ts';
import type { Query } from './read-query.ts';
import { type Counts, changeOf, countsOf, type Metrics, metricsOf, NO_COUNTS } from './report-metrics.ts';
import { type ReportDeps, type ReportRequest, readReportRequest } from './report-request.ts';
import { exactVisitorsMax, type Scope, type Statement } from './report-sql.ts';
import { headView, periodView } from './report-view.ts';
import { statsStatement } from './stats-sql.ts';
import { askWithSource } from './visits/visit-source.ts';

interface StatsView {
  readonly totals: Metrics;
  readonly buckets: readonly (Metrics & { readonly start: string; readonly end: string })[];
}

/** The answer of the stats report: the numbers of the whole period and of each bucket. The site and the period are in it, too. */
export interface StatsAnswer extends StatsView {
  readonly interval: Interval;
  readonly comparison?: StatsView & { readonly change: object };
  readonly explain?: { readonly statements: readonly object[]; readonly left_out: object };
}

export async function askStats(
  site: Site,
  query: Query,
  asked: Interval | undefined,
  deps: ReportDeps,
): Promise<Checked<StatsAnswer>> {
  const starts = (period: Period): readonly number[] => {
    const read = bucketStarts(period, asked ?? defaultInterval(period));
    // The problem can be ignored here, because `statsReport` finds it too and returns it.
    return 'problem' in read ? [] : read.value;
  };
  const request = await readReportRequest(site, query, deps, { starts });
  return 'problem' in request ? request : statsReport(request.value, asked, deps);
}

export async function statsReport(
  request: ReportRequest,
  asked: Interval | undefined,
  deps: ReportDeps,
): Promise<Checked<StatsAnswer>> {
  const interval = asked ?? defaultInterval(request.scope.period);
  const { compared } = request;
  const [now, before] = await Promise.all([
    statsOf(request.scope, interval, deps),
    compared === undefined ? undefined : statsOf(compared.scope, interval, deps),
  ]);
  if ('problem' in now) return now;
  if (before !== undefined && 'problem' in before) return before;
  return {
    value: {
      ...headView(request),
      interval,
      ...now.value.view,
      ...(compared === undefined || before === undefined
        ? {}
        : {
            comparison: {
              ...periodView(compared.scope),
              ...before.value.view,
              change: changeOf(now.value.view.totals, before.value.view.totals),
            },
          }),
      ...(await explained(request, { stats: now.value.statement, comparison: before?.value.statement }, deps)),
    },
  };
}

interface Stats {
  readonly statement: Statement;
  readonly view: StatsView;
}

async function statsOf(scope: Scope, interval: Interval, { analytics }: ReportDeps): Promise<Checked<Stats>> {
  const starts = bucketStarts(scope.period, interval);
  if ('problem' in starts) return starts;
  const { statement, rows, exactMax } = await askWithSource(scope, analytics, async (asked) => {
    const statement = statsStatement(asked, starts.value);
    const { rows } = await analytics.userQuery(statement.sql, statement.params);
    return { statement, rows, exactMax: exactVisitorsMax(asked) };
  });
  const ofBucket = new Map<number | 'total', Counts>(
    rows.map((row) => [Number(row.is_total) === 1 ? 'total' : Number(row.bucket), countsOf(row)]),
  );
  const { zone, toMs } = scope.period;
  const metrics = (of: number | 'total'): Metrics => metricsOf(ofBucket.get(of) ?? NO_COUNTS, exactMax);
  const buckets = starts.value.map((start, index) => ({
    start: localText(start, zone),
    end: localText(starts.value[index + 1] ?? toMs, zone),
    ...metrics(start),
  }));
  return { value: { statement, view: { totals: metrics('total'), buckets } } };
}
