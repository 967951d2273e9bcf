import type { Programs } from '../build-programs.ts';

/** One measurement. It runs alone, in rounds that alternate between the measured code and the code that it is compared with. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** The number of rounds if `--rounds` is not given. */
  readonly rounds: number;
  /** The reason why it runs only if it is named on the command line. */
  readonly onlyByName?: string;
  /** Why it cannot run on this machine; `undefined` if it can. */
  missing?(): string | undefined;
  run(bench: Bench): Promise<Findings>;
}

export interface Bench {
  readonly programs: Programs;
  readonly rounds: number;
  /** The number of records to process, for example of a backlog or a replay. If it is undefined, the scenario uses its own number. */
  readonly records: number | undefined;
  /** The numbers of rows for which `reports` fills tables, one after the other. Other scenarios use the first. If undefined: their own. */
  readonly rows: readonly number[] | undefined;
  /** The reports to measure. If it is undefined, all reports are measured. */
  readonly reports: readonly string[] | undefined;
  /** The folder in which the tables of reports and dashboards are kept. If it is undefined, they are deleted. */
  readonly folder: string | undefined;
  /** The longest time to wait for a quiet machine before a measurement. */
  readonly quietSeconds: number;
  /** Prints the progress to standard error. */
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

/** A performance target of the project, with the measured value. */
export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly found: string;
  readonly met: boolean;
}
