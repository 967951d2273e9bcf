import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { print } from '../output.ts';

interface UnlinkOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly user?: string;
}

interface Unlinked {
  readonly visitor_id: string;
  readonly user_id: string;
}

export function addVisitorCommands(program: Command, { io, client }: CommandContext): void {
  const visitor = groupOf(
    program,
    'visitor',
    'manage which user a visitor belongs to',
    'weir visitor unlink v_1 --site shop',
  );

  withExamples(
    visitor
      .command('unlink <visitor_id>')
      .description('unlink a visitor from its user: earlier identifies of the two are cancelled'),
    'weir visitor unlink v_1 --site shop',
    'weir visitor unlink v_1 --user 42 --site shop',
  )
    .addOption(siteOption())
    .option('-u, --user <user_id>', 'the user; default: the current user of the visitor')
    .action(async (visitorId: string, { json, site, user }: UnlinkOptions) => {
      const body = { visitor_id: visitorId, ...(user === undefined ? {} : { user_id: user }) };
      const unlinked = await client().call<Unlinked>('POST', sitePath(site, 'unlink'), body);
      print(io, json, unlinked, ({ visitor_id, user_id }) => `unlinked ${visitor_id} from ${user_id}`);
    });
}
