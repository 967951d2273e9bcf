import { Command, CommanderError } from 'commander';
import { version } from '../../../package.json';
import { addArchiveCommands } from './archive/archive-command.ts';
import type { CliIo } from './cli-io.ts';
import { type CommandContext, createContext } from './command-context.ts';
import { addAuditCommand } from './commands/audit-command.ts';
import { addBackupCommands } from './commands/backup-command.ts';
import { addDeadLetterCommands } from './commands/dead-letters-command.ts';
import { addExclusionCommands } from './commands/exclusion-command.ts';
import { addExportCommand } from './commands/export-command.ts';
import { addForgetCommand } from './commands/forget-command.ts';
import { addImportCommand } from './commands/import-command.ts';
import { addKeyCommands } from './commands/key-command.ts';
import { addPersonCommands } from './commands/person-command.ts';
import { addReplayCommands } from './commands/replay-command.ts';
import { addBreakdownCommand } from './commands/reports/breakdown-command.ts';
import { addCohortsCommand } from './commands/reports/cohorts-command.ts';
import { addFunnelCommands } from './commands/reports/funnel-command.ts';
import { addGoalCommands } from './commands/reports/goal-command.ts';
import { addJourneysCommand } from './commands/reports/journeys-command.ts';
import { addPropertiesCommand } from './commands/reports/properties-command.ts';
import { addRealtimeCommand } from './commands/reports/realtime-command.ts';
import { addSavedCommands } from './commands/reports/saved-commands.ts';
import { addStatsCommand } from './commands/reports/stats-command.ts';
import { addSiteCommands } from './commands/site-command.ts';
import { addSqlCommand } from './commands/sql-command.ts';
import { addStatusCommand } from './commands/status-command.ts';
import { addTopicsCommands } from './commands/topics-command.ts';
import { addViewerCommands } from './commands/viewer-command.ts';
import { addVisitorCommands } from './commands/visitor-command.ts';
import { CliError, EXIT, type ExitCode } from './exit-codes.ts';

const HELP = `
Settings:
  WEIR_URL          address of Weir; default: http://HOST:PORT (127.0.0.1:8080)
  WEIR_ADMIN_TOKEN  the admin token; default: the file admin-token in WEIR_DATA_DIR (./data)

Exit codes:
  0    success
  1    the call was refused, or failed
  2    wrong usage or setting
  3    Weir cannot be reached, or is not available now (503)
  4    audit: a record has no outcome or several, or reports differ
  130  interrupted

Examples:
  $ weir site add example.com
  $ weir import access.log.gz --site site_abcdefghijkm
  $ weir sql 'SELECT count() FROM events'
`;

/** The whole command line, with all commands. */
export function createProgram(context: CommandContext): Command {
  const { io } = context;
  const program = new Command('weir')
    .description('command-line tools for a running Weir; they use its admin API')
    .version(version, '-V, --version', 'print the version of the command')
    .addHelpText('after', HELP)
    // After `weir help fly`, Commander prints only the help of `weir`, as an error.
    .addHelpText('beforeAll', ({ error, command }) => {
      const [, unknown] = command.args;
      return error && unknown !== undefined && unknown !== 'help' ? `error: unknown command '${unknown}'\n` : '';
    })
    .showHelpAfterError('The option --help shows the arguments, the options and examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    });
  addSiteCommands(program, context);
  addKeyCommands(program, context);
  addViewerCommands(program, context);
  addExclusionCommands(program, context);
  addVisitorCommands(program, context);
  addPersonCommands(program, context);
  addForgetCommand(program, context);
  addStatsCommand(program, context);
  addBreakdownCommand(program, context);
  addPropertiesCommand(program, context);
  addRealtimeCommand(program, context);
  addGoalCommands(program, context);
  addSavedCommands(program, context);
  addFunnelCommands(program, context);
  addCohortsCommand(program, context);
  addJourneysCommand(program, context);
  addSqlCommand(program, context);
  addStatusCommand(program, context);
  addAuditCommand(program, context);
  addDeadLetterCommands(program, context);
  addTopicsCommands(program, context);
  addExportCommand(program, context);
  addBackupCommands(program, context);
  addArchiveCommands(program, context);
  addImportCommand(program, context);
  addReplayCommands(program, context);
  return program;
}

/** Runs one command line (without the program name) and resolves with the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const context = createContext(io, (code) => {
    exitCode = code;
  });
  try {
    await createProgram(context)
      .parseAsync([...args], { from: 'user' })
      .catch((error: unknown) => {
        if (!(error instanceof CommanderError)) throw error;
        // Commander has already printed the message. Exit code 0 means that help was requested.
        exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
      });
    // `print` does not wait for the output, so a failed write is found only here.
    if (io.stdout.errored instanceof CliError) throw io.stdout.errored;
    return exitCode;
  } catch (error) {
    if (!(error instanceof CliError) && !isSystemError(error)) throw error;
    io.stderr.write(`weir: ${error.message}\n`);
    return error instanceof CliError ? error.exitCode : EXIT.failed;
  }
}

/** True if the operating system refused a call, for example because the disk is full. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof (error as NodeJS.ErrnoException | undefined)?.syscall === 'string';
}
