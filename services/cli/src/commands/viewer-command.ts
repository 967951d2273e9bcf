import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { fields, print, table } from '../output.ts';

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

export function addViewerCommands(program: Command, { io, client }: CommandContext): void {
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

  withExamples(viewer.command('list').description('list the viewers, without tokens'), 'weir viewer list --site shop')
    .addOption(siteOption())
    .action(async ({ json, site }: ViewerOptions) => {
      print(io, json, await client().call<ViewerView[]>('GET', sitePath(site, 'viewers')), (viewers) =>
        table(
          ['viewer_id', 'name', 'prefix', 'created_at', 'last_used_at'],
          viewers.map((row) => [row.viewer_id, row.name, row.prefix, row.created_at, row.last_used_at ?? 'never']),
          'no viewers yet: weir viewer add --site <site_id> --name <name>',
        ),
      );
    });

  withExamples(
    viewer.command('remove <viewer_id>').description('remove a viewer: its token gets 401 within 1 second'),
    'weir viewer remove viewer_abcdefghijkm --site shop',
  )
    .addOption(siteOption())
    .action(async (viewerId: string, { json, site }: ViewerOptions) => {
      const removed = await client().call<{ viewer_id: string }>('DELETE', sitePath(site, 'viewers', viewerId));
      print(io, json, removed, ({ viewer_id }) => `removed ${viewer_id}`);
    });
}
