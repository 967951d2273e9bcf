import { type Command, Option } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { fields, print } from '../output.ts';
import { addListCommand, addRemoveCommand } from '../site-lists.ts';

interface KeyView {
  readonly key_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly legacy_identify: boolean;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

interface KeyOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly name: string;
  readonly scope?: readonly string[];
  readonly legacyIdentify?: boolean;
}

const BOTH_SCOPES = ['events:write', 'identify:write'];

export function addKeyCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const key = groupOf(
    program,
    'key',
    "a site's API keys for servers",
    'weir key add --site shop --name backend',
    'weir key list --site shop',
  );

  withExamples(
    key.command('add').description('make a key; it is shown only once'),
    'weir key add --site shop --name backend',
    'weir key add --site shop --name jobs --scope events:write',
  )
    .addOption(siteOption())
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--scope <scope...>', 'permissions of the key; default: both').choices(BOTH_SCOPES))
    .option('--legacy-identify', 'a legacy key that can only call /api/identify')
    .action(async ({ json, site, name, scope, legacyIdentify }: KeyOptions) => {
      const body = legacyIdentify && scope === undefined ? { legacy_identify: true } : { scopes: scope ?? BOTH_SCOPES };
      const both = legacyIdentify && scope !== undefined ? { legacy_identify: true } : {};
      const made = await client().call<KeyView & { key: string }>('POST', sitePath(site, 'keys'), {
        name,
        ...body,
        ...both,
      });
      print(io, json, made, (shown) => `${fields({ ...shown })}\nStore the key now: it cannot be shown again.`);
    });

  addListCommand<KeyView>(key, context, {
    path: 'keys',
    description: 'list the keys, without their secret values',
    row: (row) => ({
      key_id: row.key_id,
      name: row.name,
      scopes: row.legacy_identify ? 'legacy identify' : row.scopes.join(' '),
      created_at: row.created_at,
      last_used_at: row.last_used_at ?? 'never',
    }),
    none: 'no keys yet: weir key add --site <site_id> --name <name>',
  });

  addRemoveCommand(key, context, {
    path: 'keys',
    id: 'key_id',
    description: 'revoke a key: requests with it get 401 within 1 second',
    verb: 'revoke',
  });
}
