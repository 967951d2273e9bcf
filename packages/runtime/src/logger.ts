import { type Logger, pino } from 'pino';
import type { LogLevel } from './config/config.ts';
import { createLogDestination, type LogDestination } from './log-destination.ts';

export type { Logger };

/** Writes JSON lines to standard error. Callers never put IPs, e-mails, keys, bodies or whole requests into a line. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, createLogDestination(process.stderr.fd));
}

/** Creates the logger of a thread that does not write to standard error itself. `write` receives each line. */
export function createThreadLogger(level: LogLevel, write: (line: string) => void): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** Writes a line of a thread's logger to the destination of another logger. */
export function writeLogLine(logger: Logger, line: string): void {
  (logger as unknown as Record<symbol, LogDestination>)[pino.symbols.streamSym]?.write(line);
}
