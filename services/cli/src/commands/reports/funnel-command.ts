import type { Command } from 'commander';
import { type CommandContext, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import {
  type ExplainView,
  humanExplain,
  type ReportOptions,
  reportQuery,
  withFilterOption,
  withPeriodOptions,
  withRowsOptions,
} from './report-query.ts';

interface FunnelView {
  readonly steps: readonly {
    readonly type: string;
    readonly value: string;
    readonly visitors: number;
    readonly dropped: number;
    readonly rate: number | null;
    readonly step_rate: number | null;
  }[];
  readonly explain?: ExplainView;
}

interface FunnelOptions extends ReportOptions {
  readonly site: string;
  readonly step: readonly string[];
  readonly within?: string;
}

export function addFunnelCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withRowsOptions(
      withFilterOption(
        withPeriodOptions(
          program
            .command('funnel')
            .description('print how many visitors went through some steps in order')
            .addOption(siteOption()),
        ),
      ),
    )
      .option(
        '--step <step>',
        'event:NAME or page:GLOB; 2 to 8 times, in their order',
        (text, earlier: string[]) => [...earlier, text],
        [],
      )
      .option('--within <duration>', 'longest time from the first to the last step, such as 30m or 24h; default: 7d'),
    "weir funnel --site shop --step page:/ --step 'page:/checkout/*' --step event:purchase",
    'weir funnel --site shop --step event:signup --step event:purchase --within 24h --period 90d',
  ).action(async (options: FunnelOptions) => {
    const { site, step, within } = options;
    const steps = step.map((text) => `&step=${encodeURIComponent(text)}`).join('');
    const path = `${sitePath(site, 'funnel')}?${reportQuery(options, { within })}${steps}`;
    print(io, options.json, await client().call<FunnelView>('GET', path), humanFunnel);
  });
}

function humanFunnel({ steps, explain }: FunnelView): string {
  const percent = (share: number | null): string => (share === null ? '-' : `${(share * 100).toFixed(1)}%`);
  const rows = steps.map(({ type, value, visitors, dropped, rate, step_rate: stepRate }, index) => [
    ...[index + 1, `${type}:${value}`, visitors, dropped, percent(rate), percent(stepRate)],
  ]);
  const heads = ['', 'step', 'visitors', 'dropped', 'of the first step', 'of the step before'];
  return [table(heads, rows), ...humanExplain(explain)].join('\n');
}
