import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';

interface ExportOptions {
  readonly site: string;
  readonly visitor?: string;
  readonly user?: string;
}

export function addPersonCommands(program: Command, { io, client }: CommandContext): void {
  const person = groupOf(program, 'person', 'what Weir has of a person', 'weir person export --site shop --user 42');

  withExamples(
    person.command('export').description('print all stored data of a visitor or a user as one JSON object'),
    'weir person export --site shop --user 42 > person.json',
    'weir person export --site shop --visitor v_1',
  )
    .addOption(siteOption())
    .option('-v, --visitor <visitor_id>', 'a visitor')
    .option('-u, --user <user_id>', 'a user, with its devices and payment customers')
    .action(async ({ site, visitor, user }: ExportOptions) => {
      const query = new URLSearchParams({
        ...(visitor === undefined ? {} : { visitor_id: visitor }),
        ...(user === undefined ? {} : { user_id: user }),
      });
      await client().download(`${sitePath(site, 'person')}?${query}`, io.stdout);
    });
}
