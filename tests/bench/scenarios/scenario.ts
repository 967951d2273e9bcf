import type { Programs } from '../build-programs.ts';

/** One measurement. No other measurement runs at the same time. Rounds alternate between the measured code and the code with which it is compared. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** The number of rounds if `--rounds` is not given. It is the maximum for scenarios that use `repeatUntilSteady`. */
  readonly rounds: number;
  /** Why the scenario runs only if the command line names it. */
  readonly onlyByName?: string;
  /** Why it cannot run on this machine; `undefined` if it can. */
  missing?(): string | undefined;
  run(bench: Bench): Promise<Findings>;
}

export interface Bench {
  readonly programs: Programs;
  /** The number of rounds, or the maximum for scenarios that use `repeatUntilSteady`. */
  readonly rounds: number;
  /** The number of records to process, for example of a backlog or a replay. If it is undefined, the scenario uses its own number. */
  readonly records: number | undefined;
  /**
   * The numbers of rows. `reports` and `scale` measure at each of these numbers. Other scenarios use the first one. If undefined, the scenario uses
   * its own numbers.
   */
  readonly rows: readonly number[] | undefined;
  /** The reports to measure. If it is undefined, all reports are measured. */
  readonly reports: readonly string[] | undefined;
  /** The folder in which `reports`, `history`, `dashboard`, `dashboards` and `late` keep their tables. If it is undefined, they are deleted. */
  readonly folder: string | undefined;
  /** The maximum time to wait for a low load of the machine before a measurement. */
  readonly quietSeconds: number;
  note(text: string): void;
}

export interface Findings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** How the figures were measured, and what limits their validity. */
  readonly notes: readonly string[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly found: string;
  readonly met: boolean;
}
