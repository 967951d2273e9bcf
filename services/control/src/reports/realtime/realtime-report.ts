import type { Site } from '@weir/domain/registry/site';
import { zoneOf } from '@weir/domain/registry/time-zone';
import { localText } from '../buckets.ts';
import { explained } from '../excluded-rows.ts';
import type { ReportDeps, ReportOptions } from '../report-request.ts';
import type { AskedScope } from '../report-sql.ts';
import { headView } from '../report-view.ts';
import { visitSourceOf } from '../visits/visit-source.ts';
import {
  MINUTES,
  PERIOD_MS,
  REALTIME_LISTS,
  RECENT_MINUTES,
  type RealtimeList,
  realtimeStatement,
} from './realtime-sql.ts';

interface Counted {
  readonly visitors: number;
  readonly pageviews: number;
  readonly events: number;
}

const NOTHING: Counted = { visitors: 0, pageviews: 0, events: 0 };

/**
 * The answer of the realtime report: the 30 minutes before now, by the times of the events. It usually reads only rows near this
 * period (`visitSourceOf`). Its cost then does not depend on the history of the site.
 */
export async function realtimeReport(
  site: Site,
  { withExplanation, ...rowsOf }: ReportOptions,
  limit: number,
  deps: ReportDeps,
): Promise<object> {
  const toMs = deps.clock();
  const fromMs = toMs - PERIOD_MS;
  const period = { zone: zoneOf(site), fromMs, toMs };
  const asked: AskedScope = { siteId: site.siteId, period, ...rowsOf, isShown: withExplanation };
  const scope = { ...asked, visits: await visitSourceOf(asked, deps.analytics) };
  const statement = realtimeStatement(scope, limit);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  const found = rows.map(({ list, value, visitors, pageviews, events }) => ({
    list: String(list),
    value: String(value),
    counted: { visitors: Number(visitors), pageviews: Number(pageviews), events: Number(events) },
  }));
  const of = (name: string, text = ''): Counted =>
    found.find(({ list, value }) => list === name && value === text)?.counted ?? NOTHING;
  const listOf = (name: RealtimeList) =>
    found
      .filter(({ list }) => list === name)
      .slice(0, limit)
      .map(({ value, counted }) => ({ value, ...counted }));
  const names = Object.keys(REALTIME_LISTS) as RealtimeList[];
  return {
    ...headView({ scope, compared: undefined }),
    limit,
    [`last_${RECENT_MINUTES}_minutes`]: of('recent'),
    [`last_${MINUTES}_minutes`]: of('all'),
    minutes: Array.from({ length: MINUTES }, (_, nth) => ({
      start: localText(fromMs + nth * (PERIOD_MS / MINUTES), zoneOf(site)),
      ...of('minute', String(nth)),
    })),
    ...Object.fromEntries(names.map((name) => [name, listOf(name)])),
    ...(await explained({ scope, withExplanation }, { realtime: statement }, deps)),
  };
}
