import type { Site } from '@weir/domain/registry/site';
import type { AdminDeps } from '../../control-deps.ts';
import { invalid, ok, type Reply } from '../../http/admin-reply.ts';
import type { AdminRequest } from '../../http/admin-route.ts';
import { INTERVALS } from '../buckets.ts';
import { OVERVIEW_PARAMETERS, readChoice, readPage, readQuery } from '../read-query.ts';
import { readReportOptions } from '../report-request.ts';
import { OVERVIEW_SITES_MAX, overviewReport } from './overview-report.ts';

/** Returns the totals of all sites (docs/stats.md, All sites). */
export async function overview(deps: AdminDeps, { http, context }: AdminRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, OVERVIEW_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const options = readReportOptions(query.value);
  if ('problem' in options) return invalid(options.problem);
  const interval = readChoice('interval', query.value.interval, INTERVALS);
  if ('problem' in interval) return invalid(interval.problem);
  const asked = readPage(query.value, OVERVIEW_SITES_MAX);
  if ('problem' in asked) return invalid(asked.problem);
  const { limit, page } = asked.value;

  const all = foundSites(deps.registry.sites(), query.value.search ?? '').toSorted((a, b) => order(a.siteId, b.siteId));
  const sites = all.slice((page - 1) * limit, page * limit);
  const { withBots, withExplanation } = options.value;
  const request = { sites, period: query.value, interval: interval.value, withBots, withExplanation };
  const { clock } = deps;
  const report = await deps.tables.read((analytics) => overviewReport(request, { analytics, clock }), context);
  if ('problem' in report) return invalid(report.problem);
  const paging = { limit, page, has_more: all.length > page * limit };
  return ok({ ...paging, ...report.value });
}

/** The sites whose name, domain or ID contains the text, in upper or lower case. */
function foundSites(sites: readonly Site[], search: string): readonly Site[] {
  const text = search.trim().toLowerCase();
  return sites.filter(({ siteId, name, domain }) =>
    [name, domain, siteId].some((one) => one.toLowerCase().includes(text)),
  );
}

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
