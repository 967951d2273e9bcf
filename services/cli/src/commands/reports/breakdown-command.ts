import type { Command } from 'commander';
import { type CommandContext, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import {
  type ExplainView,
  humanExplain,
  type MetricsView,
  metricCells,
  metricHeads,
  type ReportOptions,
  reportQuery,
  visitorsCell,
  withMetricsOptions,
} from './report-query.ts';

interface BreakdownView {
  readonly dimension: string;
  readonly page: number;
  readonly has_more: boolean;
  readonly rows: readonly (Partial<MetricsView> & { readonly value: string; readonly before?: Partial<MetricsView> })[];
  readonly explain?: ExplainView;
}

interface BreakdownOptions extends ReportOptions {
  readonly by: string;
  readonly order?: string;
  readonly metrics?: string;
  readonly limit: string;
  readonly page?: string;
}

export function addBreakdownCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withMetricsOptions(
      program
        .command('breakdown <site_id>')
        .description('print the numbers of a site by page, source, country and so on'),
    )
      .requiredOption(
        '--by <dimension>',
        'page, entry, exit, source, channel, country, browser, event, property:NAME, …',
      )
      .option('--order <order>', 'one of the numbers, with :asc or :desc; default: visitors:desc')
      .option('--metrics <names>', 'only these numbers, separated by commas; visitors,pageviews,events need less time')
      .option('--limit <n>', 'rows per page', '20')
      .option('--page <n>', 'page number; default: 1'),
    'weir breakdown shop --by page --period 7d',
    'weir breakdown shop --by property:plan --filter event:is:signup',
    'weir breakdown shop --by page --period 12mo --metrics visitors,pageviews',
    'weir breakdown shop --by channel --compare previous_period --json',
  ).action(async (siteId: string, options: BreakdownOptions) => {
    const { by: dimension, order, metrics, limit, page } = options;
    const path = `${sitePath(siteId, 'breakdown')}?${reportQuery(options, { dimension, order, metrics, limit, page })}`;
    print(io, options.json, await client().call<BreakdownView>('GET', path), humanBreakdown);
  });
}

function humanBreakdown({ dimension, page, has_more: hasMore, rows, explain }: BreakdownView): string {
  const withBefore = rows.some(({ before }) => before?.visitors !== undefined);
  const cells = rows.map(({ value, before, ...metrics }) => [
    value === '' ? '(none)' : value,
    ...metricCells(metrics),
    ...(before?.visitors === undefined ? [] : [visitorsCell(before.visitors)]),
  ]);
  return [
    table(
      [dimension, ...metricHeads(rows[0] ?? {}), ...(withBefore ? ['visitors before'] : [])],
      cells,
      'no rows in this period',
    ),
    ...(hasMore ? [`more rows: --page ${page + 1}`] : []),
    ...humanExplain(explain),
  ].join('\n');
}
