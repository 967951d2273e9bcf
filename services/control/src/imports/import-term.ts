/** The time in which a process accepts imports. No other process accepts imports during this time. */
export interface ImportTerm {
  /**
   * Resolves if this process is still elected. Rejects with `partition_lost` if another process was elected, and with `event_log_unavailable` if
   * the event log does not answer in time.
   */
  fence(): Promise<void>;
  /** Runs a task of an import. The term does not pass to another process while a task runs, unless this process is unreachable. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** The term of a process that needs no election, because it is the only process with the data. */
export const SOLE_TERM: ImportTerm = { fence: async () => undefined, run: (task) => task() };
