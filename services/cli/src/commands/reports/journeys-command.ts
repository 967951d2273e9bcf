import type { Command } from 'commander';
import { type CommandContext, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import { type ExplainView, humanExplain, type ReportOptions, reportQuery, withReportOptions } from './report-query.ts';

type PagesView = readonly { readonly value: string; readonly views: number; readonly visits: number }[];

interface JourneysView {
  readonly path: string;
  readonly views: number;
  readonly visits: number;
  readonly previous: PagesView;
  readonly next: PagesView;
  readonly explain?: ExplainView;
}

interface JourneysOptions extends ReportOptions {
  readonly site: string;
  readonly limit?: string;
}

export function addJourneysCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withReportOptions(
      program
        .command('journeys <path>')
        .description('print the pages that visits viewed before and after a page')
        .addOption(siteOption()),
    ).option('--limit <n>', 'length of each list; default: 10'),
    'weir journeys /pricing --site shop --period 7d',
    'weir journeys / --site shop --filter channel:is:Direct',
  ).action(async (page: string, options: JourneysOptions) => {
    const query = reportQuery(options, { path: page, limit: options.limit });
    const path = `${sitePath(options.site, 'journeys')}?${query}`;
    print(io, options.json, await client().call<JourneysView>('GET', path), humanJourneys);
  });
}

function humanJourneys({ path, views, visits, previous, next, explain }: JourneysView): string {
  const list = (head: string, none: string, pages: PagesView): string =>
    table(
      [head, 'views', 'visits'],
      pages.map((page) => [page.value === '' ? none : page.value, page.views, page.visits]),
      'no views in this period',
    );
  return [
    `${path}: ${views} views in ${visits} visits`,
    '',
    list('page before', '(the visit began)', previous),
    '',
    list('page after', '(the visit ended)', next),
    ...humanExplain(explain),
  ].join('\n');
}
