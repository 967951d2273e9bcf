import type { Command } from 'commander';
import { type CommandContext, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import {
  type ExplainView,
  humanExplain,
  type ReportOptions,
  reportQuery,
  startDate,
  withReportOptions,
} from './report-query.ts';

interface CohortsView {
  readonly timezone: string;
  readonly interval: string;
  readonly cohorts: readonly {
    readonly start: string;
    readonly visitors: number;
    readonly rates: readonly (number | null)[];
  }[];
  readonly explain?: ExplainView;
}

interface CohortsOptions extends ReportOptions {
  readonly site: string;
  readonly interval?: string;
}

export function addCohortsCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withReportOptions(
      program
        .command('cohorts')
        .description('print new visitors by day, week or month, and how many of them came back later')
        .addOption(siteOption()),
    ).option('--interval <interval>', 'day, week or month; default: day'),
    'weir cohorts --site shop --period 30d',
    'weir cohorts --site shop --interval week --from 2026-01-05 --to 2026-03-29',
  ).action(async (options: CohortsOptions) => {
    const path = `${sitePath(options.site, 'cohorts')}?${reportQuery(options, { interval: options.interval })}`;
    print(io, options.json, await client().call<CohortsView>('GET', path), humanCohorts);
  });
}

function humanCohorts({ timezone, interval, cohorts, explain }: CohortsView): string {
  const later = cohorts.slice(1).map((_, index) => `+${index + 1}`);
  const rows = cohorts.map(({ start, visitors, rates }) => [
    startDate(start),
    visitors,
    ...later.map((_, index) => percent(rates[index])),
  ]);
  return [table([`${interval} (${timezone})`, 'new visitors', ...later], rows), ...humanExplain(explain)].join('\n');
}

/** Formats the rate of visitors who came back in a bucket (day, week or month). Undefined: the bucket is after the period. Null: empty cohort. */
function percent(rate: number | null | undefined): string {
  if (rate === undefined) return '';
  return rate === null ? '-' : `${(rate * 100).toFixed(1)}%`;
}
