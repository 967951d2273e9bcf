import type { Site } from '@weir/domain/registry/site';
import type { Analytics } from '@weir/ports/analytics';
import type { Checked } from '../http/compile-body.ts';
import { type Filter, readFilters } from './filter.ts';
import { COMPARISONS, type Comparison, comparedPeriod, type Period, readPeriod } from './period.ts';
import { type Query, readChoice } from './read-query.ts';
import type { Scope } from './report-sql.ts';

/** The part of a request that the stats and breakdown reports share. */
export interface ReportRequest {
  readonly scope: Scope;
  /** The period of comparison. Undefined: none was requested. */
  readonly compared: { readonly comparison: Comparison; readonly scope: Scope } | undefined;
  readonly withExplanation: boolean;
}

export interface ReportDeps {
  readonly analytics: Pick<Analytics, 'userQuery'>;
  readonly clock: () => number;
}

export async function readReportRequest(site: Site, query: Query, deps: ReportDeps): Promise<Checked<ReportRequest>> {
  const filters = readFilters(query.filters);
  if ('problem' in filters) return filters;
  const bots = readChoice('bots', query.bots, ['exclude', 'include']);
  if ('problem' in bots) return bots;
  const explain = readChoice('explain', query.explain, ['0', '1']);
  if ('problem' in explain) return explain;
  const compare = readChoice('compare', query.compare, COMPARISONS);
  if ('problem' in compare) return compare;
  const period = await readPeriod(query, site.timezone, deps.clock(), () => firstRowMs(site, deps));
  if ('problem' in period) return period;
  const comparison = compare.value;
  return {
    value: {
      scope: scopeOf(site, period.value, bots.value === 'include', filters.value),
      compared:
        comparison === undefined
          ? undefined
          : {
              comparison,
              scope: scopeOf(site, comparedPeriod(period.value, comparison), bots.value === 'include', filters.value),
            },
      withExplanation: explain.value === '1',
    },
  };
}

function scopeOf(site: Site, period: Period, withBots: boolean, filters: readonly Filter[]): Scope {
  return { siteId: site.siteId, period, withBots, filters };
}

async function firstRowMs(site: Site, { analytics }: ReportDeps): Promise<number | undefined> {
  const { rows } = await analytics.userQuery(
    'SELECT count() AS rows, toUnixTimestamp64Milli(min(timestamp)) AS first FROM events WHERE site_id = {site:String}',
    { site: site.siteId },
  );
  return Number(rows[0]?.rows ?? 0) === 0 ? undefined : Number(rows[0]?.first);
}
