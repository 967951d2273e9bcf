import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';

interface RuleView {
  readonly rule_id: string;
  readonly type: string;
  readonly value: string;
  readonly created_at: string;
  readonly dropped: number | null;
  readonly last_dropped_at: string | null;
}

interface RuleOptions {
  readonly json?: boolean;
  readonly site: string;
}

export function addExclusionCommands(program: Command, { io, client }: CommandContext): void {
  const exclusion = groupOf(
    program,
    'exclusion',
    'manage the rules that drop hits before they are stored',
    'weir exclusion add ip 192.0.2.0/24 --site shop',
    'weir exclusion list --site shop',
  );

  withExamples(
    exclusion
      .command('add <type> [value]')
      .description('add a rule: ip, path, hostname, country, user_agent, visitor or bots'),
    'weir exclusion add ip 192.0.2.0/24 --site shop',
    "weir exclusion add path '/admin/*' --site shop",
    'weir exclusion add bots --site shop',
  )
    .addOption(siteOption())
    .action(async (type: string, value: string | undefined, { json, site }: RuleOptions) => {
      const body = { type, ...(value === undefined ? {} : { value }) };
      const rule = await client().call<RuleView>('POST', sitePath(site, 'exclusions'), body);
      print(io, json, rule, ({ rule_id }) => `added ${rule_id}; in force within 1 second`);
    });

  withExamples(
    exclusion.command('list').description('list the rules and the number of hits that each one dropped'),
    'weir exclusion list --site shop',
  )
    .addOption(siteOption())
    .action(async ({ json, site }: RuleOptions) => {
      print(io, json, await client().call<RuleView[]>('GET', sitePath(site, 'exclusions')), (rules) =>
        table(
          ['rule_id', 'type', 'value', 'created_at', 'dropped', 'last_dropped_at'],
          rules.map((rule) => [
            rule.rule_id,
            rule.type,
            rule.value,
            rule.created_at,
            rule.dropped ?? 'unknown',
            rule.last_dropped_at ?? 'never',
          ]),
          'no rules',
        ),
      );
    });

  withExamples(
    exclusion.command('remove <rule_id>').description('remove a rule'),
    'weir exclusion remove rule_abcdefghijkm --site shop',
  )
    .addOption(siteOption())
    .action(async (ruleId: string, { json, site }: RuleOptions) => {
      const removed = await client().call<{ rule_id: string }>('DELETE', sitePath(site, 'exclusions', ruleId));
      print(io, json, removed, ({ rule_id }) => `removed ${rule_id}`);
    });
}
