import type { Readable, Writable } from 'node:stream';
import type { CliEnvironment } from './cli-config.ts';

/** The environment of a command: its settings, streams, clock and signals. */
export interface CliIo {
  readonly env: CliEnvironment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly clock: () => number;
  /**
   * For commands that can be interrupted. After this call, the first Ctrl-C or SIGTERM aborts the returned signal instead of ending the
   * process.
   */
  interruption(): AbortSignal;
}
