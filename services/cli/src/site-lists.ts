import type { Command } from 'commander';
import { type CommandContext, siteOption, sitePath, withExamples } from './command-context.ts';
import { print, table } from './output.ts';

interface SiteCommandOptions {
  readonly json?: boolean;
  readonly site: string;
}

interface SiteList<Item> {
  /** The list in the admin API, relative to the site. */
  readonly path: string;
  readonly description: string;
  /** The cells of the table row of an item. The names are the heads of the columns. */
  readonly row: (item: Item) => Readonly<Record<string, unknown>>;
  /** The text for an empty list. */
  readonly none: string;
}

interface Removal {
  /** The list in the admin API, relative to the site. */
  readonly path: string;
  /** The name of the ID, for example `goal_id`. IDs of this kind begin with `goal_`. */
  readonly id: string;
  readonly description: string;
  readonly verb?: 'remove' | 'revoke';
}

/** Adds the command `list` to a group: it prints all items of a list that a site has, such as its goals. */
export function addListCommand<Item>(group: Command, { io, client }: CommandContext, list: SiteList<Item>): void {
  const command = group.command('list').description(list.description);
  withExamples(command, `weir ${group.name()} list --site shop`)
    .addOption(siteOption())
    .action(async ({ json, site }: SiteCommandOptions) => {
      print(io, json, await client().call<Item[]>('GET', sitePath(site, list.path)), (items) => {
        const rows = items.map(list.row);
        return table(Object.keys(rows[0] ?? {}), rows.map(Object.values), list.none);
      });
    });
}

/** Adds a command to a group that removes one item of such a list. */
export function addRemoveCommand(group: Command, { io, client }: CommandContext, removal: Removal): void {
  const { path, id, description, verb = 'remove' } = removal;
  const example = `weir ${group.name()} ${verb} ${id.replace('_id', '_abcdefghijkm')} --site shop`;
  withExamples(group.command(`${verb} <${id}>`).description(description), example)
    .addOption(siteOption())
    .action(async (itemId: string, { json, site }: SiteCommandOptions) => {
      const removed = await client().call<Record<string, unknown>>('DELETE', sitePath(site, path, itemId));
      print(io, json, removed, (item) => `${verb}d ${item[id]}`);
    });
}
