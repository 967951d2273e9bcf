import { type Command, Option } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { fields, print, table } from '../output.ts';

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

export function addKeyCommands(program: Command, { io, client }: CommandContext): void {
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

  withExamples(
    key.command('list').description('list the keys, without their secret values'),
    'weir key list --site shop',
  )
    .addOption(siteOption())
    .action(async ({ json, site }: KeyOptions) => {
      print(io, json, await client().call<KeyView[]>('GET', sitePath(site, 'keys')), (keys) =>
        table(
          ['key_id', 'name', 'scopes', 'created_at', 'last_used_at'],
          keys.map((row) => [
            row.key_id,
            row.name,
            row.legacy_identify ? 'legacy identify' : row.scopes.join(' '),
            row.created_at,
            row.last_used_at ?? 'never',
          ]),
          'no keys yet: weir key add --site <site_id> --name <name>',
        ),
      );
    });

  withExamples(
    key.command('revoke <key_id>').description('revoke a key: requests with it get 401 within 1 second'),
    'weir key revoke key_abcdefghijkm --site shop',
  )
    .addOption(siteOption())
    .action(async (keyId: string, { json, site }: KeyOptions) => {
      const revoked = await client().call<{ key_id: string }>('DELETE', sitePath(site, 'keys', keyId));
      print(io, json, revoked, ({ key_id }) => `revoked ${key_id}`);
    });
}
