import { isDependencyError } from '@weir/domain/errors';
import { ConfigError, loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { rolesFromArguments, USAGE } from './roles.ts';
import { startWeir } from './startup/start-weir.ts';

const LISTEN_CALLS: readonly unknown[] = ['listen', 'getaddrinfo'];
const NOT_THIS_MACHINE = '. Set HOST to an address or a host name of this machine';
/** What to do after an error of a call of LISTEN_CALLS, by the code of the error. */
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EACCES: '. The user of Weir may not use this port: set PORT',
  EADDRINUSE: '. Another program uses this port: set PORT',
  EADDRNOTAVAIL: NOT_THIS_MACHINE,
  ENOTFOUND: NOT_THIS_MACHINE,
};
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** After the drain timeout, the process has this much time to close batches and engines. */
const CLOSE_WITHIN_MS = 5_000;

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected = error instanceof ConfigError || isDependencyError(error) || isListenError(error);
  const advice = isListenError(error) ? LISTEN_ADVICE[error.code ?? ''] : undefined;
  console.error(expected ? `weir: ${error.message}${advice ?? ''}` : error);
  process.exit(error instanceof ConfigError ? EXIT_USAGE : EXIT_FAILED);
});

/** Whether the process cannot listen, for example because the port is in use or the host does not exist. The error message says why. */
function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && LISTEN_CALLS.includes(error.syscall);
}

async function main(names: readonly string[]): Promise<void> {
  if (names.includes('--help') || names.includes('-h')) {
    console.log(USAGE);
    return;
  }
  const roles = readRoles(names);
  const config = loadConfig(process.env, names);
  const logger = createLogger(config.logLevel);

  const weir = startWeir({ config, roles, logger, clock: Date.now, print: (text) => console.log(text) });

  let stopping = false;
  const stop = (signal: string): void => {
    // A Ctrl-C arrives twice: the terminal sends the signal to the whole process group, and npm forwards it. The second signal is ignored.
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'draining');
    setTimeout(() => {
      logger.error('the drain took too long: stopping now. The next start continues with the remaining records');
      process.exit(EXIT_FAILED);
    }, config.drainTimeoutMs + CLOSE_WITHIN_MS);
    weir.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'the drain failed');
        process.exit(EXIT_FAILED);
      },
    );
  };
  // A terminal that is closed sends SIGHUP.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop(signal));
  await weir.started;
}

function readRoles(names: readonly string[]): ReturnType<typeof rolesFromArguments> {
  try {
    return rolesFromArguments(names);
  } catch (error) {
    console.error(`weir: ${(error as Error).message}`);
    return process.exit(EXIT_USAGE);
  }
}
