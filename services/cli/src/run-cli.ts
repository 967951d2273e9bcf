import { Command, CommanderError } from 'commander';
import type { CliIo } from './cli-io.ts';
import { createContext } from './command-context.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addBreakdownCommand } from './commands/breakdown.ts';
import { addExclusionCommands } from './commands/exclusion.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/key.ts';
import { addSiteCommands } from './commands/site.ts';
import { addSqlCommand } from './commands/sql.ts';
import { addStatsCommand } from './commands/stats.ts';
import { addStatusCommand } from './commands/status.ts';
import { addVisitorCommands } from './commands/visitor.ts';
import { CliError, EXIT, type ExitCode } from './exit-codes.ts';

const HELP = `
Settings:
  WEIR_URL          where Weir is; default: http://HOST:PORT (127.0.0.1:8080)
  WEIR_ADMIN_TOKEN  the admin token; default: the file admin-token in WEIR_DATA_DIR (./data)

Exit codes:
  0 done   1 refused or failed   2 wrong usage or setting   3 Weir can't be reached or can't do it now
  4 audit: the books don't balance   130 interrupted

Examples:
  $ weir site add example.com
  $ weir import access.log.gz --site site_abcdefghijkm
  $ weir sql 'SELECT count() FROM events'
`;

/** Runs one command line (without the program's name) and resolves with its exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = new Command('weir')
    .description('the tools of Weir; they work on a running Weir through its admin API')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    });
  const context = createContext(io, (code) => {
    exitCode = code;
  });
  addSiteCommands(program, context);
  addKeyCommands(program, context);
  addExclusionCommands(program, context);
  addVisitorCommands(program, context);
  addStatsCommand(program, context);
  addBreakdownCommand(program, context);
  addSqlCommand(program, context);
  addStatusCommand(program, context);
  addAuditCommand(program, context);
  addImportCommand(program, context);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has already said what is wrong; help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof CliError)) throw error;
    io.stderr.write(`weir: ${error.message}\n`);
    return error.exitCode;
  }
}
