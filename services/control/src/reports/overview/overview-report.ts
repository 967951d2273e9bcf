import type { Site } from '@weir/domain/registry/site';
import { zoneOf } from '@weir/domain/registry/time-zone';
import type { Checked } from '../../http/compile-body.ts';
import { SITE_ROWS_MIN } from '../../visit-slots/days-to-build.ts';
import { bucketStarts, defaultInterval, type Interval, localText } from '../buckets.ts';
import { comparedPeriod, type Period, type PeriodQuery, readPeriod } from '../period.ts';
import type { Query } from '../read-query.ts';
import { type Counts, changeOf, countsOf, type Metrics, metricsOf, NO_COUNTS } from '../report-metrics.ts';
import type { ReportDeps } from '../report-request.ts';
import type { Statement } from '../report-sql.ts';
import { statementView } from '../report-view.ts';
import { askStats } from '../stats-report.ts';
import { bucketStart, type OverviewZone, overviewStatement, presentStatement, startOfKey } from './overview-sql.ts';

/**
 * The maximum number of buckets. It is so low that even with `OVERVIEW_SITES_MAX` sites, the statement does not return more rows than a user's query
 * may return.
 */
const OVERVIEW_BUCKETS_MAX = 180;
export const OVERVIEW_SITES_MAX = 500;

export interface OverviewRequest {
  /** The sites of one page, at most `OVERVIEW_SITES_MAX`. */
  readonly sites: readonly Site[];
  readonly period: Query;
  readonly interval: Interval | undefined;
  readonly withBots: boolean;
  readonly withExplanation: boolean;
}

/** The numbers of a site: the totals of the period, those of the period before and their change, and the visitors of each bucket. */
interface SiteNumbers {
  readonly totals: Metrics;
  readonly before: Metrics;
  readonly change: object;
  readonly series: readonly Metrics['visitors'][];
}

/**
 * Answers the report over all sites. One statement reads all sites with fewer than `ownMin` rows, and groups their whole history. For each larger
 * site, the statements of the stats report are run. They usually read only the rows and the slots (docs/glossary.md) of the period.
 */
export async function overviewReport(
  request: OverviewRequest,
  deps: ReportDeps,
  ownMin: number = SITE_ROWS_MIN,
): Promise<Checked<object>> {
  const { sites, withBots, withExplanation } = request;
  const nowMs = deps.clock();
  // The default interval depends on the length of the period, which can differ by an hour between time zones. All zones use the default interval of
  // UTC.
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
  const large = await largeSites(sites, ownMin, deps);
  const together = zones.map((zone) => ({ ...zone, siteIds: zone.siteIds.filter((siteId) => !large.has(siteId)) }));
  const statement = overviewStatement(together, withBots);
  const present = presentStatement(
    sites.map(({ siteId }) => siteId),
    nowMs,
    withBots,
  );
  const rowsOf = async ({ sql, params }: Statement) => (await deps.analytics.userQuery(sql, params)).rows;
  const rows = large.size === sites.length ? [] : await rowsOf(statement);
  const visitorsNow = new Map(
    (sites.length === 0 ? [] : await rowsOf(present)).map((row) => [String(row.site_id), Number(row.visitors)]),
  );
  const found = new Map<string, Counts>(rows.map((row) => [textOf(row), countsOf(row)]));
  const numbersOf = (site: Site): SiteNumbers => {
    const { siteId } = site;
    const number = zones.findIndex(({ period }) => period.zone === zoneOf(site));
    const countsIn = (part: 'now' | 'before' | number): Counts => found.get(`${siteId} ${part}`) ?? NO_COUNTS;
    const [totals, before] = [metricsOf(countsIn('now')), metricsOf(countsIn('before'))];
    const series = zones[number]?.starts.map((start) => countsIn(bucketStart(start)).visitors) ?? [];
    return { totals, before, change: changeOf(totals, before), series };
  };
  const statements = [
    ...(large.size === sites.length ? [] : [statementView('overview', statement)]),
    ...(sites.length === 0 ? [] : [statementView('present', present)]),
  ];
  const views: object[] = [];
  for (const site of sites) {
    const own = large.has(site.siteId)
      ? await statsOfSite(site, request, interval, { ...deps, clock: () => nowMs })
      : undefined;
    if (own !== undefined && 'problem' in own) return own;
    statements.push(...(own?.value.statements ?? []));
    const numbers = own?.value.numbers ?? numbersOf(site);
    const { siteId, name, domain, timezone } = site;
    const last_5_minutes = { visitors: visitorsNow.get(siteId) ?? 0 };
    views.push({ site_id: siteId, name, domain, timezone, ...numbers, last_5_minutes });
  }
  return {
    value: {
      interval,
      bots: withBots ? 'include' : 'exclude',
      periods: zones.map(periodsView),
      sites: views,
      ...(withExplanation && sites.length > 0 ? { explain: { statements } } : {}),
    },
  };
}

async function largeSites(
  sites: readonly Site[],
  rowsMin: number,
  { analytics }: ReportDeps,
): Promise<ReadonlySet<string>> {
  const { rows } = await analytics.userQuery(
    `SELECT toString(site_id) AS site FROM records WHERE site_id IN {sites:Array(String)}
GROUP BY site_id HAVING count() >= {rows:UInt64}`,
    { sites: sites.map(({ siteId }) => siteId), rows: rowsMin },
  );
  return new Set(rows.map(({ site }) => String(site)));
}

async function statsOfSite(
  site: Site,
  { period, withBots, withExplanation }: OverviewRequest,
  interval: Interval,
  deps: ReportDeps,
): Promise<Checked<{ readonly numbers: SiteNumbers; readonly statements: readonly object[] }>> {
  const query: Query = {
    ...{ ...period, compare: 'previous_period', exact: '1' },
    ...{ bots: withBots ? 'include' : 'exclude', explain: withExplanation ? '1' : '0' },
  };
  const stats = await askStats(site, query, interval, deps);
  if ('problem' in stats) return stats;
  const { totals, buckets, comparison, explain } = stats.value;
  if (comparison === undefined) throw new Error('stats of a site have no comparison');
  const { totals: before, change } = comparison;
  const series = buckets.map(({ visitors }) => visitors);
  return { value: { numbers: { totals, before, change, series }, statements: explain?.statements ?? [] } };
}

async function readOverviewPeriod(query: PeriodQuery, zone: string, nowMs: number): Promise<Checked<Period>> {
  if (query.period === 'all') return { problem: 'period must not be all: each site would have another period' };
  return readPeriod(query, zone, nowMs, async () => undefined);
}

function byZone(sites: readonly Site[]): ReadonlyMap<string, readonly Site[]> {
  const zones = new Map<string, Site[]>();
  for (const site of sites) zones.set(zoneOf(site), [...(zones.get(zoneOf(site)) ?? []), site]);
  return zones;
}

/**
 * The key of a row in the map `found`. It has the site, and `now` (the row counts the period), `before` (the period
 * before), or the start of a bucket.
 */
function textOf({ site_id, is_before, is_total, bucket }: Readonly<Record<string, unknown>>): string {
  const part = Number(is_before) === 1 ? 'before' : Number(is_total) === 1 ? 'now' : startOfKey(Number(bucket));
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
