import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { fields, print } from '../output.ts';
import { addListCommand, addRemoveCommand } from '../site-lists.ts';

interface ViewerView {
  readonly viewer_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

interface ViewerOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly name: string;
}

export function addViewerCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const viewer = groupOf(
    program,
    'viewer',
    'read-only tokens for the reports of one site',
    'weir viewer add --site shop --name "Ada of marketing"',
    'weir viewer list --site shop',
  );

  withExamples(
    viewer.command('add').description('make a token that reads the reports of the site; it is shown only once'),
    'weir viewer add --site shop --name "Ada of marketing"',
  )
    .addOption(siteOption())
    .requiredOption('--name <name>', 'who gets the token')
    .action(async ({ json, site, name }: ViewerOptions) => {
      const made = await client().call<ViewerView & { token: string }>('POST', sitePath(site, 'viewers'), { name });
      print(io, json, made, (shown) => `${fields({ ...shown })}\nStore the token now: it cannot be shown again.`);
    });

  addListCommand<ViewerView>(viewer, context, {
    path: 'viewers',
    description: 'list the viewers, without tokens',
    row: ({ viewer_id, name, prefix, created_at, last_used_at }) => {
      return { viewer_id, name, prefix, created_at, last_used_at: last_used_at ?? 'never' };
    },
    none: 'no viewers yet: weir viewer add --site <site_id> --name <name>',
  });

  addRemoveCommand(viewer, context, {
    path: 'viewers',
    id: 'viewer_id',
    description: 'remove a viewer: its token gets 401 within 1 second',
  });
}
