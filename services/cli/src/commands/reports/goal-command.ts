import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import { addListCommand, addRemoveCommand } from '../../site-lists.ts';
import { type ExplainView, humanExplain, type ReportOptions, reportQuery, withReportOptions } from './report-query.ts';

interface GoalView {
  readonly goal_id: string;
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly created_at: string;
}

interface ConversionsView {
  readonly conversions: number;
  readonly converting_visitors: number;
  readonly conversion_rate: number | null;
  readonly revenue: readonly { readonly currency: string; readonly amount: string }[];
}

interface ReportView {
  readonly visitors?: number;
  readonly goals?: readonly (GoalView & ConversionsView)[];
  readonly dimension?: string;
  readonly page?: number;
  readonly has_more?: boolean;
  readonly rows?: readonly (ConversionsView & { readonly value: string; readonly visitors: number })[];
  readonly explain?: ExplainView;
}

interface SiteOptions {
  readonly json?: boolean;
  readonly site: string;
}

interface StatsOptions extends ReportOptions, SiteOptions {
  readonly json?: boolean;
  readonly goal?: string;
  readonly by?: string;
  readonly order?: string;
  readonly limit?: string;
  readonly page?: string;
}

export function addGoalCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const goal = groupOf(
    program,
    'goal',
    'manage the goals of a site, and count their conversions',
    'weir goal add event signup --site shop',
    'weir goal stats --site shop --period 7d',
  );

  withExamples(
    goal.command('add <type> <value>').description('add a goal: event with a name, or page with a glob'),
    'weir goal add event signup --site shop',
    "weir goal add page '/checkout/*' --name Checkout --site shop",
  )
    .addOption(siteOption())
    .option('--name <name>', 'what the reports call the goal; default: the value')
    .action(async (type: string, value: string, { json, site, name }: SiteOptions & { readonly name?: string }) => {
      const body = { type, value, ...(name === undefined ? {} : { name }) };
      const made = await client().call<GoalView>('POST', sitePath(site, 'goals'), body);
      print(io, json, made, ({ goal_id }) => `added ${goal_id}`);
    });

  addListCommand<GoalView>(goal, context, {
    path: 'goals',
    description: 'list the goals of a site',
    row: ({ goal_id, name, type, value, created_at }) => ({ goal_id, name, type, value, created_at }),
    none: 'no goals',
  });

  addRemoveCommand(goal, context, { path: 'goals', id: 'goal_id', description: 'remove a goal; no event is removed' });

  withExamples(
    withReportOptions(
      goal
        .command('stats')
        .description('print conversions, converting visitors, conversion rate and revenue')
        .addOption(siteOption()),
    )
      .option('--goal <goal_id>', 'only this goal')
      .option('--by <dimension>', 'with --goal: page, source, channel, country, property:NAME, …')
      .option('--order <order>', 'with --by: one of the numbers, with :asc or :desc; default: conversions:desc')
      .option('--limit <n>', 'with --by: rows per page; default: 100')
      .option('--page <n>', 'with --by: page number; default: 1'),
    'weir goal stats --site shop --period 7d',
    'weir goal stats --site shop --goal goal_abcdefghijkm --by channel',
  ).action(async (options: StatsOptions) => {
    const { site, goal: goalId, by: dimension, order, limit, page } = options;
    const query = reportQuery(options, { goal: goalId, dimension, order, limit, page });
    print(
      io,
      options.json,
      await client().call<ReportView>('GET', `${sitePath(site, 'conversions')}?${query}`),
      humanReport,
    );
  });
}

const HEADS = ['conversions', 'converting visitors', 'conversion rate', 'revenue'];

function humanReport({
  visitors,
  goals,
  dimension = '',
  page = 1,
  has_more: hasMore,
  rows,
  explain,
}: ReportView): string {
  const shown =
    goals === undefined
      ? table(
          [dimension, 'visitors', ...HEADS],
          (rows ?? []).map((row) => [row.value === '' ? '(none)' : row.value, row.visitors, ...cells(row)]),
          'no rows in this period',
        )
      : `${table(
          ['goal', ...HEADS],
          goals.map((row) => [row.name, ...cells(row)]),
          'no goals',
        )}\nof ${visitors ?? 0} visitors`;
  return [shown, ...(hasMore ? [`more rows: --page ${page + 1}`] : []), ...humanExplain(explain)].join('\n');
}

function cells({ conversions, converting_visitors: converting, conversion_rate: rate, revenue }: ConversionsView) {
  return [
    conversions,
    converting,
    rate === null ? '-' : `${(rate * 100).toFixed(2)}%`,
    revenue.map(({ currency, amount }) => `${amount} ${currency}`.trim()).join(', '),
  ];
}
