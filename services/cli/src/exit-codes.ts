/** Exit codes that scripts can use; `weir --help` lists them. */
export const EXIT = {
  ok: 0,
  /** Weir refused, or something went wrong. */
  failed: 1,
  /** The command line or a setting is wrong. */
  usage: 2,
  /** Weir can't be reached, or can't do it now. */
  unreachable: 3,
  /** `weir audit`: the books don't balance. */
  unbalanced: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that the user is told of in one line. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
