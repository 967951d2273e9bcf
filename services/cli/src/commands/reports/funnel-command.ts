import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import { addListCommand, addRemoveCommand } from '../../site-lists.ts';
import { type ExplainView, humanExplain, type ReportOptions, reportQuery, withReportOptions } from './report-query.ts';

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

interface SavedFunnelView {
  readonly funnel_id: string;
  readonly name: string;
  readonly steps: readonly string[];
  readonly within: string;
}

interface SavedOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly name: string;
  readonly step: readonly string[];
  readonly within?: string;
}

interface ShowOptions extends ReportOptions {
  readonly site: string;
  readonly saved?: string;
  readonly step: readonly string[];
  readonly within?: string;
}

export function addFunnelCommands(program: Command, context: CommandContext): void {
  const funnel = groupOf(
    program,
    'funnel',
    'print how many visitors went through some steps in order; without a subcommand: show',
    "weir funnel --site shop --step page:/ --step 'page:/checkout/*' --step event:purchase",
    'weir funnel add --site shop --name Sale --step page:/ --step event:purchase',
  );
  addShowCommand(funnel, context);
  addSavedCommands(funnel, context);
}

function addShowCommand(funnel: Command, { io, client }: CommandContext): void {
  withExamples(
    withSteps(
      withReportOptions(
        funnel
          .command('show', { isDefault: true })
          .description('print how many visitors went through the steps of --step, or of a saved funnel')
          .addOption(siteOption()),
      ),
    ).option('--saved <funnel_id>', 'a saved funnel, instead of --step and --within'),
    "weir funnel --site shop --step page:/ --step 'page:/checkout/*' --step event:purchase",
    'weir funnel --site shop --step event:signup --step event:purchase --within 24h --period 90d',
    'weir funnel show --site shop --saved funnel_abcdefghijkm --period 90d',
  ).action(async (options: ShowOptions) => {
    const { site, saved, step, within } = options;
    const steps = step.map((text) => `&step=${encodeURIComponent(text)}`).join('');
    const path = `${sitePath(site, 'funnel')}?${reportQuery(options, { funnel: saved, within })}${steps}`;
    print(io, options.json, await client().call<FunnelView>('GET', path), humanFunnel);
  });
}

function addSavedCommands(funnel: Command, context: CommandContext): void {
  const { io, client } = context;
  withExamples(
    withSteps(funnel.command('add').description('save steps under a name').addOption(siteOption())).requiredOption(
      '--name <name>',
      'the name',
    ),
    "weir funnel add --site shop --name Checkout --step 'page:/checkout/*' --step event:purchase --within 24h",
  ).action(async ({ json, site, name, step, within }: SavedOptions) => {
    const body = { name, steps: step, ...(within === undefined ? {} : { within }) };
    const made = await client().call<SavedFunnelView>('POST', sitePath(site, 'funnels'), body);
    print(io, json, made, ({ funnel_id }) => `added ${funnel_id}`);
  });

  addListCommand<SavedFunnelView>(funnel, context, {
    path: 'funnels',
    description: 'list the saved funnels',
    row: ({ funnel_id, name, steps, within }) => ({ funnel_id, name, steps: steps.join('  '), within }),
    none: 'no saved funnels',
  });

  addRemoveCommand(funnel, context, {
    path: 'funnels',
    id: 'funnel_id',
    description: 'remove a saved funnel; no event is removed',
  });
}

function withSteps(command: Command): Command {
  return command
    .option(
      '--step <step>',
      'event:NAME or page:GLOB; 2 to 8 times, in their order',
      (text, earlier: string[]) => [...earlier, text],
      [],
    )
    .option('--within <duration>', 'longest time from the first to the last step, such as 30m or 24h; default: 7d');
}

function humanFunnel({ steps, explain }: FunnelView): string {
  const percent = (share: number | null): string => (share === null ? '-' : `${(share * 100).toFixed(1)}%`);
  const rows = steps.map(({ type, value, visitors, dropped, rate, step_rate: stepRate }, index) => [
    ...[index + 1, `${type}:${value}`, visitors, dropped, percent(rate), percent(stepRate)],
  ]);
  const heads = ['', 'step', 'visitors', 'dropped', 'of the first step', 'of the step before'];
  return [table(heads, rows), ...humanExplain(explain)].join('\n');
}
