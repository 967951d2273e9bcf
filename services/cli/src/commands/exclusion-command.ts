import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { print } from '../output.ts';
import { addListCommand, addRemoveCommand } from '../site-lists.ts';

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

interface TestOptions extends RuleOptions {
  readonly ip?: string;
  readonly path?: string;
  readonly hostname?: string;
  readonly country?: string;
  readonly userAgent?: string;
  readonly visitor?: string;
}

interface TestView {
  readonly rule: Pick<RuleView, 'rule_id' | 'type' | 'value'> | null;
}

export function addExclusionCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
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

  addListCommand<RuleView>(exclusion, context, {
    path: 'exclusions',
    description: 'list the rules and the number of hits that each one dropped',
    row: ({ rule_id, type, value, created_at, dropped, last_dropped_at }) => ({
      ...{ rule_id, type, value, created_at },
      dropped: dropped ?? 'unknown',
      last_dropped_at: last_dropped_at ?? 'never',
    }),
    none: 'no rules',
  });

  withExamples(
    exclusion.command('test').description('show which rule would drop a hit; nothing is stored'),
    'weir exclusion test --site shop --ip 192.0.2.7 --path /admin/users',
    "weir exclusion test --site shop --user-agent 'Mozilla/5.0 (compatible; bingbot/2.0)'",
  )
    .addOption(siteOption())
    .option('--ip <address>', 'the client IP')
    .option('--path <path>', 'the path of the page')
    .option('--hostname <host>', 'the host name of the page')
    .option('--country <code>', 'the country of the hit; default: the country of the address')
    .option('--user-agent <text>', 'the user agent')
    .option('--visitor <visitor_id>', 'the visitor ID')
    .action(async ({ json, site, userAgent, visitor, ip, path, hostname, country }: TestOptions) => {
      const hit = { ip, path, hostname, country, user_agent: userAgent, visitor_id: visitor };
      const tested = await client().call<TestView>('POST', sitePath(site, 'exclusions', 'test'), hit);
      print(io, json, tested, ({ rule }) =>
        rule === null ? 'no rule drops this hit' : `dropped by ${rule.rule_id}: ${rule.type} ${rule.value}`.trimEnd(),
      );
    });

  addRemoveCommand(exclusion, context, { path: 'exclusions', id: 'rule_id', description: 'remove a rule' });
}
