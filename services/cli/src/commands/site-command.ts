import { KEEP_PATTERN } from '@weir/domain/registry/keep';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandContext, confirmRemoval, groupOf, sitePath, withExamples, yesOption } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, print, table } from '../output.ts';

interface SiteView {
  readonly site_id: string;
  readonly name: string;
  readonly domain: string;
  readonly timezone: string;
  readonly limits: Readonly<Record<string, number>>;
  readonly query_allow: readonly string[] | null;
  readonly kept: Readonly<Record<'events' | 'profiles' | 'rollups', string>>;
  readonly identity_verification: { readonly required: boolean; readonly secret_created_at: string | null };
  readonly created_at: string;
}

interface IdentitySecretView {
  readonly site_id: string;
  readonly secret: string;
}

interface RemovedView {
  readonly site_id: string;
  readonly erasure_id: string;
}

type QueryAllow = readonly string[] | 'all';

interface SiteOptions {
  readonly json?: boolean;
  readonly id?: string;
  readonly name?: string;
  readonly domain?: string;
  readonly timezone?: string;
  readonly queryAllow?: QueryAllow;
  readonly limitCollect?: number | 'default';
  readonly limitEvents?: number | 'default';
  readonly limitIdentify?: number | 'default';
  readonly keepEvents?: string;
  readonly keepProfiles?: string;
  readonly keepRollups?: string;
  readonly identitySignature?: 'required' | 'optional';
  readonly remove?: boolean;
  readonly yes?: boolean;
}

const QUERY_ALLOW = 'query parameters that stored URLs keep: names separated by commas, "none", or "all"';
const KEPT_FOR = 'remove events, payments and dead letters after this time: 400d, 2y, forever, or default';
const KEEP_NOTES = `A shorter --keep time removes the older rows within minutes. This cannot be undone: make a backup first (weir backup create).`;
const show = (site: SiteView): string => fields({ ...site });

export function addSiteCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const site = groupOf(program, 'site', 'manage sites', 'weir site add example.com', 'weir site list --json');

  withExamples(
    site.command('add <domain>').description('add a site'),
    'weir site add example.com --name "Example" --timezone Europe/Berlin',
    'weir site add example.com --id shop --json',
  )
    .option('--name <name>', 'name of the site; default: the domain')
    .option('--id <site_id>', 'ID of the site, 1 to 64 characters of A-Z a-z 0-9 _ -; default: a new ID')
    .option('--timezone <zone>', 'an IANA time zone; default: UTC')
    .option('--query-allow <names>', QUERY_ALLOW, readQueryAllow)
    .option('--keep-events <time>', KEPT_FOR, readKeep)
    .option('--keep-profiles <time>', 'the same for users, since they were last seen', readKeep)
    .option('--keep-rollups <time>', 'the same for sessions; not shorter than events', readKeep)
    .action(async (domain: string, options: SiteOptions) => {
      // The domain is also the name, so Weir would otherwise complain about the name.
      if (domain === '') throw new CliError('the domain is empty: check the variable that it comes from', EXIT.usage);
      const { id, name = domain } = options;
      const body = { ...changeOf(options), name, domain, ...(id !== undefined && { site_id: id }) };
      print(io, options.json, await client().call<SiteView>('POST', '/sites', body), show);
    });

  withExamples(site.command('list').description('list the sites'), 'weir site list').action(
    async (options: SiteOptions) => {
      print(io, options.json, await client().call<SiteView[]>('GET', '/sites'), (sites) =>
        table(
          ['site_id', 'name', 'domain', 'timezone', 'keeps events', 'profiles', 'rollups', 'created_at'],
          sites.map((row) => {
            const { events, profiles, rollups } = row.kept;
            return [row.site_id, row.name, row.domain, row.timezone, events, profiles, rollups, row.created_at];
          }),
          'no sites yet: weir site add <domain>',
        ),
      );
    },
  );

  withExamples(site.command('show <site_id>').description('show a site'), 'weir site show shop').action(
    async (siteId: string, options: SiteOptions) => {
      print(io, options.json, await client().call<SiteView>('GET', sitePath(siteId)), show);
    },
  );

  withExamples(
    site.command('set <site_id>').description('change a site'),
    'weir site set shop --name "The shop"',
    'weir site set shop --limit-events 6000',
    'weir site set shop --limit-events default',
    'weir site set shop --query-allow page,q',
    'weir site set shop --keep-events 400d --keep-profiles 2y --keep-rollups 5y',
    'weir site set shop --identity-signature required',
  )
    .option('--name <name>', 'name of the site in lists and in the dashboard')
    .option('--domain <domain>', 'domain of the site, such as example.com')
    .option('--timezone <zone>', 'an IANA time zone')
    .option('--query-allow <names>', QUERY_ALLOW, readQueryAllow)
    .option('--keep-events <time>', KEPT_FOR, readKeep)
    .option('--keep-profiles <time>', 'the same for users, since they were last seen', readKeep)
    .option('--keep-rollups <time>', 'the same for sessions; not shorter than events', readKeep)
    .option('--limit-collect <n>', 'hits per minute and client IP, or "default"', readLimit)
    .option('--limit-events <n>', 'events per minute and key, or "default"', readLimit)
    .option('--limit-identify <n>', 'identify calls per minute and key, or "default"', readLimit)
    .addOption(
      new Option(
        '--identity-signature <which>',
        'required: identifies from browsers without a valid signature are dropped',
      ).choices(['required', 'optional']),
    )
    .addOption(yesOption())
    .addHelpText('after', KEEP_NOTES)
    .action(async (siteId: string, options: SiteOptions) => {
      const change = changeOf(options);
      if (Object.keys(change).length === 0) throw new CliError('no change given: see weir site set --help', EXIT.usage);
      if ([options.keepEvents, options.keepProfiles, options.keepRollups].some(isLimited)) {
        const what = `Within minutes, Weir removes the rows of ${siteId} that are older than the new time.`;
        await confirmRemoval(io, siteId, what, options.yes);
      }
      print(io, options.json, await client().call<SiteView>('PATCH', sitePath(siteId), change), show);
    });

  withExamples(
    site
      .command('identity-secret <site_id>')
      .description('make the secret with which servers sign user IDs; it replaces the old one and is shown only once'),
    'weir site identity-secret shop',
    'weir site identity-secret shop --remove',
  )
    .option('--remove', 'remove the secret: identifies from browsers are no longer authenticated')
    .action(async (siteId: string, options: SiteOptions) => {
      const path = sitePath(siteId, 'identity-secret');
      if (options.remove === true) {
        const removed = await client().call<{ site_id: string }>('DELETE', path);
        print(io, options.json, removed, ({ site_id }) => `removed the identity secret of ${site_id}`);
        return;
      }
      const made = await client().call<IdentitySecretView>('POST', path);
      print(
        io,
        options.json,
        made,
        ({ secret }) => `${secret}\nStore it on your servers only: it cannot be shown again.`,
      );
    });

  withExamples(
    site
      .command('remove <site_id>')
      .description('remove a site with its keys, rules and import ledger, and erase its records'),
    'weir site remove shop',
  )
    .addOption(yesOption())
    .action(async (siteId: string, options: SiteOptions) => {
      await confirmRemoval(io, siteId, `This removes ${siteId} and erases all its records.`, options.yes);
      const removed = await client().call<RemovedView>('DELETE', sitePath(siteId));
      const human = ({ site_id, erasure_id }: RemovedView) =>
        `removed ${site_id}; its records are being erased: weir forget --receipt ${erasure_id}`;
      print(io, options.json, removed, human);
    });
}

function changeOf(options: SiteOptions): object {
  const { name, domain, timezone, queryAllow, identitySignature } = options;
  const { limitCollect: collect, limitEvents: events, limitIdentify: identify } = options;
  const { keepEvents, keepProfiles: profiles, keepRollups: rollups } = options;
  return defined({
    name,
    domain,
    timezone,
    query_allow: queryAllow === 'all' ? null : queryAllow,
    limits: changesOf({ collect, events, identify }),
    keep: changesOf({ events: keepEvents, profiles, rollups }),
    identity_verification: identitySignature === undefined ? undefined : { required: identitySignature === 'required' },
  });
}

function defined(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/**
 * Returns the values that are defined. Translates `default` to null, which the admin API expects: an option of the command line cannot be null.
 * Undefined if no value is defined.
 */
function changesOf(values: Readonly<Record<string, number | string | undefined>>): object | undefined {
  const sent = Object.entries(defined(values)).map(([name, value]) => [name, value === 'default' ? null : value]);
  return sent.length === 0 ? undefined : Object.fromEntries(sent);
}

function readLimit(text: string): number | 'default' {
  if (text === 'default') return text;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('must be an integer of at least 1, or "default".');
  return Number(text);
}

function isLimited(time: string | undefined): boolean {
  return time !== undefined && time !== 'forever';
}

function readKeep(text: string): string {
  if (text === 'default' || new RegExp(KEEP_PATTERN).test(text)) return text;
  throw new InvalidArgumentError('must be a number with d or y, such as 400d or 2y, or "forever", or "default".');
}

function readQueryAllow(text: string): QueryAllow {
  if (text === 'all') return text;
  return text === 'none' ? [] : text.split(',').map((name) => name.trim());
}
