import type { WeirClient } from '@weir/testkit/weir-client';
import type { VisitorLoad } from './visitor-load.ts';

/** A running Weir that faults happen to. */
export interface Subject {
  readonly client: WeirClient;
  readonly url: string;
  /** Where the load goes: one URL for each gateway. */
  readonly urls: readonly string[];
  /** Stops Weir and removes its data. */
  close(): Promise<void>;
}

/** One fault. When `npm run faults` has seen that Weir survives it, the table in docs/faults.md has a row for it. */
export interface Fault<Broken extends Subject> {
  /** Unique. The argument of `--only`. */
  readonly name: string;
  /** What happens, as one phrase for the table. */
  readonly about: string;
  /** Why the fault cannot happen on this machine; `undefined` if it can. */
  problem?(): string | undefined;
  open(): Promise<Broken>;
  /** Faults with the same text use one Weir, one after the other. Without it, the fault has its own Weir. */
  readonly shares?: string;
  /**
   * True if the enricher can forget visits that continue later, because their state expires. Then visits must have the right times and
   * pageviews, but a server event can belong to no visit, and stamps can differ until control compares them (docs/decisions/0033).
   */
  readonly forgetsVisits?: boolean;
  /** Whether clients also repeat events that Weir has acknowledged, with the same idempotency key. Default: true. */
  readonly sendsKeysAgain?: boolean;
  /** Makes the fault happen once, and ends it: afterwards Weir must work again by itself. */
  strike(broken: Broken, round: Round): Promise<void>;
  /** Checks for further defects after the last round, before Weir is closed. Returns one sentence for each defect. */
  findings?(broken: Broken): Promise<readonly string[]>;
}

export interface Round {
  /** Counted from 0. */
  readonly nth: number;
  /** A number from 0 to 1. The same seed gives the same numbers. */
  readonly random: () => number;
  readonly load: VisitorLoad;
  readonly site: string;
  readonly key: string;
  /** True in tests, where all faults together have a few minutes: faults with a duration are then short. False in `npm run faults`. */
  readonly short: boolean;
  /** Call it when the fault has ended, if `strike` does more afterwards, such as starting Weir again. The time to recover begins here. */
  over(): void;
  /** Call it with one sentence for each defect that `strike` finds. The fault then fails. The remaining rounds and the comparison still run. */
  found(defect: string): void;
  /** Call it with the number of dead letters that the fault must cause. */
  expectDeadLetters(count: number): void;
}

export interface FaultResult {
  readonly name: string;
  readonly about: string;
  readonly rounds: number;
  readonly acknowledged: number;
  readonly stored: number;
  readonly lost: number;
  readonly doubled: number;
  /** For each round, from the end of the fault until a new event was acknowledged and could be queried. */
  readonly recoveryMs: readonly number[];
  /** The number of requests by what the caller saw. */
  readonly saw: ReadonlyMap<string, number>;
  /** What went wrong, such as a lost event or an answer that no endpoint may give. Empty if Weir has survived the fault. */
  readonly findings: readonly string[];
}
