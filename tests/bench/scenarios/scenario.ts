import type { Programs } from '../build-programs.ts';

/** One thing that is measured. It runs alone, in rounds that alternate between what is measured and what it is held against. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** Rounds where `--rounds` says nothing. */
  readonly rounds: number;
  /** Why it runs only where it is named. */
  readonly onlyByName?: string;
  /** Why it can't run here; `undefined` where it can. */
  missing?(): string | undefined;
  run(bench: Bench): Promise<Findings>;
}

export interface Bench {
  readonly programs: Programs;
  readonly rounds: number;
  /** Records of a backlog; undefined: the scenario's own number. */
  readonly records: number | undefined;
  /** Says how far it is, on standard error. */
  note(text: string): void;
}

export interface Findings {
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** How it was measured, and what to know before believing it. */
  readonly notes: readonly string[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A promise of the project, beside what was found. */
export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly found: string;
  readonly met: boolean;
}
