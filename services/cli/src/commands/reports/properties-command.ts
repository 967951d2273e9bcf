import type { Command } from 'commander';
import { type CommandContext, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';
import { type ExplainView, humanExplain, type ReportOptions, reportQuery, withReportOptions } from './report-query.ts';

interface PropertiesView {
  readonly has_more: boolean;
  readonly properties: readonly {
    readonly name: string;
    readonly visitors: number;
    readonly pageviews: number;
    readonly events: number;
  }[];
  readonly explain?: ExplainView;
}

interface PropertiesOptions extends ReportOptions {
  readonly limit: string;
}

export function addPropertiesCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    withReportOptions(
      program
        .command('properties <site_id>')
        .description('print the names of the custom properties in a period, for --by property:NAME'),
    ).option('--limit <n>', 'the number of names', '100'),
    'weir properties shop --period 7d',
    'weir properties shop --filter event:is:signup',
  ).action(async (siteId: string, options: PropertiesOptions) => {
    const path = `${sitePath(siteId, 'properties')}?${reportQuery(options, { limit: options.limit })}`;
    print(io, options.json, await client().call<PropertiesView>('GET', path), humanProperties);
  });
}

function humanProperties({ properties, has_more: hasMore, explain }: PropertiesView): string {
  const rows = properties.map(({ name, visitors, pageviews, events }) => [name, visitors, pageviews, events]);
  return [
    table(['property', 'visitors', 'pageviews', 'events'], rows, 'no properties in this period'),
    ...(hasMore ? ['more properties: --limit'] : []),
    ...humanExplain(explain),
  ].join('\n');
}
