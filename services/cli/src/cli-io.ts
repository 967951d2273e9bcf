import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { CliEnvironment } from './cli-config.ts';

/** The environment of a command: its settings, streams, clock and signals. */
export interface CliIo {
  readonly env: CliEnvironment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly clock: () => number;
  /**
   * For commands that can be interrupted. After this call, the first Ctrl-C, SIGTERM or SIGHUP aborts the returned signal instead of ending the
   * process.
   */
  interruption(): AbortSignal;
}

/** `timeout` and service managers send SIGTERM. A terminal that is closed sends SIGHUP. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * Further signals within this time belong to the same interruption. `npm run` can forward a Ctrl-C that the terminal has sent to this process too.
 * When a terminal is closed, both its shell and the system send SIGHUP.
 */
const SAME_INTERRUPTION_MS = 1_000;

/** Returns a signal that the first interruption aborts. A second interruption ends the process. */
export function interruptionOf(process: EventEmitter): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (controller.signal.aborted) return;
    controller.abort();
    setTimeout(() => {
      for (const signal of SIGNALS) process.off(signal, abort);
    }, SAME_INTERRUPTION_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, abort);
  return controller.signal;
}
