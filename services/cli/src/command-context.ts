import { type Command, Option } from 'commander';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import { loadCliConfig } from './cli-config.ts';
import type { CliIo } from './cli-io.ts';
import type { ExitCode } from './exit-codes.ts';

/** What every command gets. */
export interface CommandContext {
  readonly io: CliIo;
  /** Made when a command runs, so that --help needs no settings. */
  readonly client: () => AdminClient;
  /** For a command that ends well but says something by its exit code. */
  exitWith(code: ExitCode): void;
}

export function createContext(io: CliIo, exitWith: (code: ExitCode) => void): CommandContext {
  return { io, client: () => createAdminClient(loadCliConfig(io.env)), exitWith };
}

/** Each command has --json and examples. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.option('--json', 'print JSON, for programs').addHelpText('after', `\nExamples:\n${lines}\n`);
}

export function siteOption(): Option {
  return new Option('-s, --site <site_id>', 'the site').makeOptionMandatory();
}

/** A path of the admin API below a site. */
export function sitePath(siteId: string, ...rest: readonly string[]): string {
  return `/sites/${[siteId, ...rest].map(encodeURIComponent).join('/')}`;
}
