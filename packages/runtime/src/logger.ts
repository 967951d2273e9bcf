import { type Logger, pino } from 'pino';
import type { LogLevel } from './config/config.ts';
import { createLogDestination } from './log-destination.ts';

export type { Logger };

/** Writes JSON lines to standard error. Callers never put IPs, e-mails, keys, bodies or whole requests into a line. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, createLogDestination(process.stderr.fd));
}
