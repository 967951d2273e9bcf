import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import { loadCliConfig } from './cli-config.ts';
import type { CliIo } from './cli-io.ts';
import { CliError, EXIT, type ExitCode } from './exit-codes.ts';

/** The dependencies of every command. */
export interface CommandContext {
  readonly io: CliIo;
  /** Creates the client of the admin API. Called only when a command runs, so that --help needs no settings. */
  readonly client: () => AdminClient;
  /** Sets the exit code of a command that ends without an error message, but with an exit code other than 0. */
  exitWith(code: ExitCode): void;
}

export function createContext(io: CliIo, exitWith: (code: ExitCode) => void): CommandContext {
  return { io, client: () => createAdminClient(loadCliConfig(io.env)), exitWith };
}

/** Adds the option --json to a command, and examples to its help. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  return command.option('--json', 'print JSON, for programs').addHelpText('after', examplesText(examples));
}

/** Adds a command that only has subcommands. */
export function groupOf(program: Command, name: string, description: string, ...examples: readonly string[]): Command {
  return program.command(name).description(description).addHelpText('after', examplesText(examples));
}

function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}\n`;
}

export function siteOption(): Option {
  return new Option('-s, --site <site_id>', 'the site').makeOptionMandatory();
}

/** A path of the admin API. Throws `CliError` if a part is empty: the path would then be that of another resource, such as a list. */
export function apiPath(...parts: readonly string[]): string {
  if (parts.includes('')) {
    throw new CliError('an ID in the command is empty: check the variable that it comes from', EXIT.usage);
  }
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** The path of a site's resource in the admin API. */
export function sitePath(siteId: string, ...rest: readonly string[]): string {
  return apiPath('sites', siteId, ...rest);
}

/** The option with which a command does not ask (`confirmRemoval`). */
export function yesOption(): Option {
  return new Option('-y, --yes', 'do not ask; without a terminal (cron, pipes), a command never asks');
}

/**
 * Before a command removes data, asks the person at the terminal to type the ID of the site. Rejects with a CliError after any other answer. With
 * `--yes`, or if standard input or standard error is not a terminal, the command does not ask.
 */
export async function confirmRemoval(io: CliIo, siteId: string, what: string, yes = false): Promise<void> {
  if (yes || io.stdin.isTTY !== true || io.stderr.isTTY !== true) return;
  io.stderr.write(`${what} This cannot be undone.\nType ${siteId} to continue: `);
  // With `terminal: false`, Ctrl-C ends the process as usual.
  const lines = createInterface({ input: io.stdin, terminal: false });
  const { value: typed = '' } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (typed.trim() !== siteId) throw new CliError(`nothing was changed: type ${siteId}, or use --yes`, EXIT.failed);
}
