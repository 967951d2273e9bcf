import { COLUMN_DIMENSION_NAMES } from '@weir/control/reports/dimensions';

/** A request for a report: `query` is the query string of its URL in the admin API. */
export interface ReportRequest {
  /** `stats`, or the dimension of a breakdown. */
  readonly report: string;
  readonly period: string;
  readonly variant: string;
  readonly query: string;
}

export const PERIODS = ['24h', '7d', '30d', '12mo'] as const;
/** The variants of each report: a name, and the parameters that are added to the URL. */
export const VARIANTS: readonly (readonly [name: string, query: string])[] = [
  ['no filter', ''],
  ['1 filter', '&filter=country:is:US'],
  ['2 filters', '&filter=country:is:US,DE&filter=source:is:Google'],
  ['with comparison', '&compare=previous_period'],
];
/** The report that is measured as the first one of a process. */
export const FIRST_REPORT = 'source';
export const REPORTS: readonly string[] = ['stats', ...COLUMN_DIMENSION_NAMES, 'property:plan', 'property:item.sku'];

/** The requests to measure. `only`: the names of the reports. If it is undefined, all reports are measured. */
export function reportRequests(only: readonly string[] | undefined): readonly ReportRequest[] {
  return VARIANTS.flatMap(([variant, query]) =>
    REPORTS.filter((report) => only?.includes(report) ?? true).flatMap((report) =>
      PERIODS.map((period) => {
        // A breakdown by bot that leaves out bots is empty and reads no rows.
        const bots = report === 'bot' || report === 'bot_reason' ? '&bots=include' : '';
        const ofReport = report === 'stats' ? '' : `&dimension=${report}&limit=100${bots}`;
        return { report, period, variant, query: `?period=${period}${ofReport}${query}` };
      }),
    ),
  );
}
