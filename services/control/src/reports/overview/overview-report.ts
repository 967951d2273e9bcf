import type { Site } from '@weir/domain/registry/site';
import type { Checked } from '../../http/compile-body.ts';
import { bucketStarts, defaultInterval, type Interval, localText } from '../buckets.ts';
import { comparedPeriod, type Period, type PeriodQuery, readPeriod } from '../period.ts';
import { type Counts, changeOf, countsOf, metricsOf, NO_COUNTS } from '../report-metrics.ts';
import type { ReportDeps } from '../report-request.ts';
import type { Statement } from '../report-sql.ts';
import { statementView } from '../report-view.ts';
import { bucketKey, type OverviewZone, overviewStatement, presentStatement } from './overview-sql.ts';

/** The maximum number of buckets. With `OVERVIEW_SITES_MAX` sites, the statement returns fewer rows than a user's query may return. */
export const OVERVIEW_BUCKETS_MAX = 180;
export const OVERVIEW_SITES_MAX = 500;

export interface OverviewRequest {
  /** The sites of one page, at most `OVERVIEW_SITES_MAX`. */
  readonly sites: readonly Site[];
  readonly period: PeriodQuery;
  readonly interval: Interval | undefined;
  readonly withBots: boolean;
  readonly withExplanation: boolean;
}

/** Answers the report over all sites: the totals of each site, their change since the period before, and the visitors of each bucket. */
export async function overviewReport(request: OverviewRequest, deps: ReportDeps): Promise<Checked<object>> {
  const { sites, withBots, withExplanation } = request;
  const nowMs = deps.clock();
  // The default interval depends on the length of the period, which can differ by an hour between time zones. All zones use the default interval of UTC.
  const inUtc = await readOverviewPeriod(request.period, 'UTC', nowMs);
  if ('problem' in inUtc) return inUtc;
  const interval = request.interval ?? defaultInterval(inUtc.value);
  const zones: OverviewZone[] = [];
  for (const [zone, ofZone] of byZone(sites)) {
    const period = await readOverviewPeriod(request.period, zone, nowMs);
    if ('problem' in period) return period;
    const starts = bucketStarts(period.value, interval, OVERVIEW_BUCKETS_MAX);
    if ('problem' in starts) return starts;
    const before = comparedPeriod(period.value, 'previous_period');
    zones.push({ siteIds: ofZone.map(({ siteId }) => siteId), period: period.value, before, starts: starts.value });
  }
  const statement = overviewStatement(zones, withBots);
  const present = presentStatement(
    sites.map(({ siteId }) => siteId),
    nowMs,
    withBots,
  );
  const rowsOf = async ({ sql, params }: Statement) =>
    zones.length === 0 ? [] : (await deps.analytics.userQuery(sql, params)).rows;
  const rows = await rowsOf(statement);
  const visitorsNow = new Map((await rowsOf(present)).map((row) => [String(row.site_id), Number(row.visitors)]));
  const found = new Map<string, Counts>(rows.map((row) => [textOf(row), countsOf(row)]));
  const viewOf = ({ siteId, name, domain, timezone }: Site): object => {
    const number = zones.findIndex(({ period }) => period.zone === timezone);
    const countsIn = (part: 'now' | 'before' | number): Counts => found.get(`${siteId} ${part}`) ?? NO_COUNTS;
    const [totals, before] = [metricsOf(countsIn('now')), metricsOf(countsIn('before'))];
    return {
      ...{ site_id: siteId, name, domain, timezone, totals, before, change: changeOf(totals, before) },
      last_5_minutes: { visitors: visitorsNow.get(siteId) ?? 0 },
      series: zones[number]?.starts.map((start) => countsIn(bucketKey(number, start)).visitors) ?? [],
    };
  };
  return {
    value: {
      interval,
      bots: withBots ? 'include' : 'exclude',
      periods: zones.map(periodsView),
      sites: sites.map(viewOf),
      ...(withExplanation && zones.length > 0
        ? { explain: { statements: [statementView('overview', statement), statementView('present', present)] } }
        : {}),
    },
  };
}

async function readOverviewPeriod(query: PeriodQuery, zone: string, nowMs: number): Promise<Checked<Period>> {
  if (query.period === 'all') return { problem: 'period must not be all: each site would have another period' };
  return readPeriod(query, zone, nowMs, async () => undefined);
}

function byZone(sites: readonly Site[]): ReadonlyMap<string, readonly Site[]> {
  const zones = new Map<string, Site[]>();
  for (const site of sites) zones.set(site.timezone, [...(zones.get(site.timezone) ?? []), site]);
  return zones;
}

/** The site and the part of a row: `now`, `before`, or the key of a bucket. */
function textOf({ site_id, is_before, is_total, bucket }: Readonly<Record<string, unknown>>): string {
  const part = Number(is_before) === 1 ? 'before' : Number(is_total) === 1 ? 'now' : Number(bucket);
  return `${site_id} ${part}`;
}

function periodsView({ period, before, starts }: OverviewZone): object {
  const text = (ms: number): string => localText(ms, period.zone);
  return {
    timezone: period.zone,
    ...{ from: text(period.fromMs), to: text(period.toMs), starts: starts.map(text) },
    comparison: { from: text(before.fromMs), to: text(before.toMs) },
  };
}
