import type { Command } from 'commander';
import { type CommandContext, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import {
  type ExplainView,
  humanExplain,
  type ReportOptions,
  reportQuery,
  withFilterOption,
  withRowsOptions,
} from './report-query.ts';

interface CountedView {
  readonly visitors: number;
  readonly pageviews: number;
  readonly events: number;
}

type ListView = readonly (CountedView & { readonly value: string })[];

interface RealtimeView {
  readonly last_5_minutes: CountedView;
  readonly last_30_minutes: CountedView;
  readonly minutes: readonly (CountedView & { readonly start: string })[];
  readonly pages: ListView;
  readonly sources: ListView;
  readonly countries: ListView;
  readonly explain?: ExplainView;
}

interface RealtimeOptions extends Pick<ReportOptions, 'json' | 'filter' | 'bots' | 'explain'> {
  readonly site: string;
  readonly limit?: string;
}

export function addRealtimeCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withRowsOptions(
      withFilterOption(
        program
          .command('realtime')
          .description('print the visitors of the last 5 and 30 minutes, by minute, page, source and country')
          .addOption(siteOption()),
      ),
    ).option('--limit <n>', 'length of each list, up to 100; default: 10'),
    'weir realtime --site shop',
    "weir realtime --site shop --filter 'page:matches:/checkout*' --json",
  ).action(async (options: RealtimeOptions) => {
    const path = `${sitePath(options.site, 'realtime')}?${reportQuery(options, { limit: options.limit })}`;
    print(io, options.json, await client().call<RealtimeView>('GET', path), humanRealtime);
  });
}

const HEADS = ['visitors', 'pageviews', 'events'];

function humanRealtime(view: RealtimeView): string {
  const cells = ({ visitors, pageviews, events }: CountedView) => [visitors, pageviews, events];
  const list = (name: string, rows: ListView) => [
    '',
    table(
      [name, ...HEADS],
      rows.map(({ value, ...counted }) => [value === '' ? '(none)' : value, ...cells(counted)]),
      `no ${name} in the last 30 minutes`,
    ),
  ];
  const busy = view.minutes.filter(({ pageviews, events }) => pageviews + events > 0);
  return [
    table(
      ['last', ...HEADS],
      [
        ['5 minutes', ...cells(view.last_5_minutes)],
        ['30 minutes', ...cells(view.last_30_minutes)],
      ],
    ),
    '',
    table(
      ['minute from', ...HEADS],
      busy.map(({ start, ...counted }) => [start, ...cells(counted)]),
      'no hits in the last 30 minutes',
    ),
    ...list('page', view.pages),
    ...list('source', view.sources),
    ...list('country', view.countries),
    ...humanExplain(view.explain),
  ].join('\n');
}
