import type { QueryOf } from '../api/call-admin.ts';
import type { PanelTab } from '../overview/panel-list.ts';
import type { ReportState } from './report-state.ts';

export const PANEL_ROWS = 9;
const COUNTRIES = 300;

export type Report =
  | { readonly id: 'stats'; readonly state: ReportState }
  | { readonly id: 'breakdown'; readonly state: ReportState; readonly tab: PanelTab; readonly dimension: string };

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

/** The query parameters of a report for uses outside of the page, such as a command. They do not limit the rows to those that fit on the page. */
export function queryOfReport(report: Report) {
  const { state } = report;
  if (report.id === 'stats') return { ...state.query, ...(state.interval && { interval: state.interval }) };
  const { limit: _, ...query } = breakdownQuery(state, report.tab, report.dimension);
  return query;
}
