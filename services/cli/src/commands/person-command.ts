import type { Command } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';
import { readWholeNumber } from '../read-whole-number.ts';

interface SearchOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly limit?: number;
}

interface ShowOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly visitor?: string;
  readonly user?: string;
  readonly limit?: number;
}

interface Found {
  readonly people: readonly {
    readonly user_id: string;
    readonly email: string;
    readonly name: string;
    readonly visitor_ids: readonly string[];
    readonly last_seen_at: string;
  }[];
}

interface Timeline {
  readonly events: readonly {
    readonly timestamp: string;
    readonly event_name: string;
    readonly hostname: string;
    readonly pathname: string;
    readonly session_id: string;
    readonly visitor_id: string;
  }[];
}

interface ExportOptions {
  readonly site: string;
  readonly visitor?: string;
  readonly user?: string;
}

export function addPersonCommands(program: Command, { io, client }: CommandContext): void {
  const person = groupOf(program, 'person', 'show the data of persons', 'weir person export --site shop --user 42');

  withExamples(
    person
      .command('search [text]')
      .description('list identified users by user ID, e-mail address, name, trait or visitor ID'),
    'weir person search ada@example.com --site shop',
    'weir person search --site shop --limit 200',
  )
    .addOption(siteOption())
    .option('--limit <count>', 'the number of users, 1 to 200; default: 50', readWholeNumber(999_999))
    .action(async (text: string | undefined, { json, site, limit }: SearchOptions) => {
      const found = await client().call<Found>('POST', sitePath(site, 'people', 'search'), {
        search: text,
        limit,
      });
      print(io, json, found, ({ people }) =>
        table(
          ['user_id', 'email', 'name', 'visitors', 'last_seen_at'],
          people.map((row) => [row.user_id, row.email, row.name, row.visitor_ids.length, row.last_seen_at]),
          'no users found',
        ),
      );
    });

  withExamples(
    person.command('show').description('the events of a user or a visitor, the newest first'),
    'weir person show --site shop --user 42',
  )
    .addOption(siteOption())
    .option('-v, --visitor <visitor_id>', 'a visitor')
    .option('-u, --user <user_id>', 'a user, with all its visitors')
    .option('--limit <count>', 'the number of events, 1 to 200; default: 50', readWholeNumber(999_999))
    .action(async ({ json, site, visitor, user, limit }: ShowOptions) => {
      const shown = await client().call<Timeline>('POST', sitePath(site, 'people', 'timeline'), {
        user_id: user,
        visitor_id: visitor,
        limit,
      });
      print(io, json, shown, ({ events }) =>
        table(
          ['timestamp', 'event', 'page', 'session_id', 'visitor_id'],
          events.map((row) => [
            row.timestamp,
            row.event_name === '' ? 'pageview' : row.event_name,
            row.hostname + row.pathname,
            row.session_id,
            row.visitor_id,
          ]),
          'no events',
        ),
      );
    });

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
