import type { Readable, Writable } from 'node:stream';
import type { CliEnvironment } from './cli-config.ts';

/** What a command has to do with the world outside, besides Weir's admin API. */
export interface CliIo {
  readonly env: CliEnvironment;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly clock: () => number;
  /** For a command that can stop halfway: the first Ctrl-C from now on aborts the signal instead of ending the process. */
  interruption(): AbortSignal;
}
