/** Exit codes for scripts; `weir --help` lists them. */
export const EXIT = {
  ok: 0,
  /** Weir refused the call, or the command failed. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** Weir cannot be reached, or answers 503. */
  unreachable: 3,
  /** The result of `weir audit` if a raw offset (docs/glossary.md) has no outcome or several outcomes, or if reports differ (`--reports`). */
  unbalanced: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure whose message is printed as one line, without a stack trace. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
