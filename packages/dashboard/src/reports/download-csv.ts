import { callAdmin, type QueryOf } from '../api/call-admin.ts';
import { type Cell, csvOf } from '../ui/csv-text.ts';
import { saveFile } from '../ui/save-file.ts';
import { METRICS, numberOf } from './report-metrics-view.ts';
import { queryOfReport, type Report } from './report-request-view.ts';

const ROWS_PER_CALL = 1_000;
const CALLS_MAX = 100;
export const VALUES_MAX = ROWS_PER_CALL * CALLS_MAX;

/** Requests exact numbers, because a cell of a CSV file cannot say that its number is an estimate. */
const EXACT = { exact: '1' } as const;

/** Saves a report as CSV: the first 100,000 values of a list, or all buckets of the series. Resolves with whether the list has more values. */
export async function downloadCsv(report: Report, siteId: string): Promise<{ readonly hasMore: boolean }> {
  const path = { site_id: siteId };
  if (report.id === 'stats') {
    const { buckets } = await callAdmin('stats', {
      path,
      query: { ...(queryOfReport(report) as QueryOf<'stats'>), ...EXACT },
    });
    saveCsv(
      `${siteId}-stats.csv`,
      ['start', 'end', ...METRICS],
      buckets.map((row) => [row.start, row.end, ...METRICS.map((name) => numberOf(row[name]))]),
    );
    return { hasMore: false };
  }
  const query = queryOfReport(report) as QueryOf<'breakdown'>;
  const lines: Cell[][] = [];
  let hasMore = true;
  for (let page = 1; page <= CALLS_MAX && hasMore; page++) {
    const data = await callAdmin('breakdown', { path, query: { ...query, ...EXACT, limit: ROWS_PER_CALL, page } });
    for (const row of data.rows) lines.push([row.value, ...METRICS.map((name) => numberOf(row[name]))]);
    hasMore = data.has_more;
  }
  saveCsv(`${siteId}-${query.dimension}.csv`.replace(':', '-'), [query.dimension, ...METRICS], lines);
  return { hasMore };
}

/** Excel reads a CSV file as UTF-8 only if it begins with this byte-order mark. */
const BYTE_ORDER_MARK = '\ufeff';

/** Saves a file. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function saveCsv(name: string, heads: readonly string[], lines: readonly (readonly Cell[])[]): void {
  saveFile(name, new Blob([BYTE_ORDER_MARK, csvOf([heads, ...lines])], { type: 'text/csv' }));
}
