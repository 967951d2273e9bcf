import type { QueryOf } from '../api/call-admin.ts';
import type { PanelTab } from '../overview/panel-list.ts';
import type { ReportState } from './report-state.ts';

export const PANEL_ROWS = 9;
const COUNTRIES = 300;

export type Report =
  | { readonly id: 'stats'; readonly state: ReportState }
  | { readonly id: 'breakdown'; readonly state: ReportState; readonly tab: PanelTab; readonly dimension: string };

/** The query parameters of the totals and the chart. The period `all` has no comparison, because it has no earlier rows. */
export function statsQuery({ query, compare, interval }: ReportState): QueryOf<'stats'> {
  return {
    ...query,
    ...(compare && query.period !== 'all' && { compare }),
    ...(interval && { interval }),
  };
}

/** The query parameters of a list. The map needs all countries, other lists only the rows that the page shows. */
export function breakdownQuery(state: ReportState, tab: PanelTab, dimension: string): QueryOf<'breakdown'> {
  return {
    ...state.query,
    ...(tab.withBots && { bots: 'include' as const }),
    dimension,
    order: `${tab.metric}:desc`,
    limit: tab.id === 'map' ? COUNTRIES : PANEL_ROWS,
  } as QueryOf<'breakdown'>;
}

/**
 * The query parameters of a report without its comparison, for uses outside of the page. They do not limit the rows to those that fit on the page.
 */
export function queryOfReport(report: Report) {
  if (report.id === 'stats') {
    const { compare: _, ...query } = statsQuery(report.state);
    return query;
  }
  const { limit: _, ...query } = breakdownQuery(report.state, report.tab, report.dimension);
  return query;
}

/** The query parameters of a command that prints what the page shows. Lists show no comparison. */
export function commandQuery(report: Report) {
  return report.id === 'stats' ? statsQuery(report.state) : queryOfReport(report);
}
