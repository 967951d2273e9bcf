import type { Command } from 'commander';
import { type CommandContext, sitePath, withExamples } from '../../command-context.ts';
import { CliError, EXIT } from '../../exit-codes.ts';
import { print, table } from '../../output.ts';
import { humanOverview, readOverview } from './overview-view.ts';
import {
  type ExplainView,
  humanExplain,
  type MetricsView,
  metricCells,
  metricHeads,
  type ReportOptions,
  reportQuery,
  startDate,
  withMetricsOptions,
} from './report-query.ts';

interface StatsView {
  readonly timezone: string;
  readonly interval: string;
  readonly totals: MetricsView;
  readonly buckets: readonly (MetricsView & { readonly start: string })[];
  readonly comparison?: { readonly totals: MetricsView };
  readonly explain?: ExplainView;
}

interface StatsOptions extends ReportOptions {
  readonly interval?: string;
  readonly all?: boolean;
}

export function addStatsCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withMetricsOptions(
      program
        .command('stats [site_id]')
        .description('print the numbers of a site, in total and over time, or of all sites'),
    )
      .option('--interval <interval>', 'hour, day, week or month; default: depends on the length of the period')
      .option('--all', 'the totals of each site, with the change of visitors against the period before'),
    'weir stats shop --period 7d',
    'weir stats shop --from 2026-03-01 --to 2026-03-31 --compare previous_year',
    'weir stats shop --filter country:is:DE,AT --filter channel:is_not:Direct --json',
    'weir stats shop --filter viewed_page:is:/pricing --filter done_event:is_not:signup',
    'weir stats --all --period 7d',
  ).action(async (siteId: string | undefined, options: StatsOptions) => {
    if ((siteId === undefined) !== (options.all === true)) throw new CliError('name a site, or give --all', EXIT.usage);
    if (siteId === undefined) return print(io, options.json, await readOverview(client(), options), humanOverview);
    const path = `${sitePath(siteId, 'stats')}?${reportQuery(options, { interval: options.interval })}`;
    print(io, options.json, await client().call<StatsView>('GET', path), humanStats);
  });
}

function humanStats({ timezone, interval, totals, buckets, comparison, explain }: StatsView): string {
  const rows = [
    ...buckets.map((bucket) => [interval === 'hour' ? bucket.start : startDate(bucket.start), ...metricCells(bucket)]),
    ['total', ...metricCells(totals)],
    ...(comparison === undefined ? [] : [['before', ...metricCells(comparison.totals)]]),
  ];
  return [table([`${interval} (${timezone})`, ...metricHeads(totals)], rows), ...humanExplain(explain)].join('\n');
}
