import type { WeirClient } from '@weir/testkit/weir-client';
import type { VisitorLoad } from './visitor-load.ts';

/** A running Weir that faults happen to. */
export interface Subject {
  readonly client: WeirClient;
  readonly url: string;
  /** The URLs to which the load sends its requests, one for each gateway. */
  readonly urls: readonly string[];
  /** Stops Weir and removes its data. */
  close(): Promise<void>;
}

/** One fault. When `npm run faults` has seen that Weir survives it, the table in docs/faults.md has a row for it. */
export interface Fault<Broken extends Subject> {
  /** Unique. Selects the fault in `npm run faults -- --only`. */
  readonly name: string;
  /** What happens, as one phrase for the table in docs/faults.md. */
  readonly about: string;
  /** Why the fault cannot happen on this machine; `undefined` if it can. */
  problem?(): string | undefined;
  open(): Promise<Broken>;
  /** Faults with the same text share one running Weir and happen to it one after the other. A fault without a text has its own Weir. */
  readonly shares?: string;
  /**
   * True if the fault lets the enricher forget visits that continue later, because their state expires. Then the audit accepts a server event
   * without a visit. It also accepts wrong stamps (docs/glossary.md) until control has compared them (docs/decisions/0033). Times and pageviews
   * of visits must be right.
   */
  readonly forgetsVisits?: boolean;
  /** Whether clients also repeat acknowledged events, with the same idempotency key. Default: true. */
  readonly sendsKeysAgain?: boolean;
  /** Makes the fault happen once, and ends it: afterwards Weir must work again by itself. */
  strike(broken: Broken, round: Round): Promise<void>;
  /** Checks for further defects after the last round, before Weir is closed. Returns one sentence for each defect. */
  findings?(broken: Broken): Promise<readonly string[]>;
}

export interface Round {
  /** Counted from 0. */
  readonly nth: number;
  /** A pseudo-random number from 0 to 1. The same seed gives the same numbers. */
  readonly random: () => number;
  readonly load: VisitorLoad;
  readonly site: string;
  readonly key: string;
  /** True in tests, where all faults together have a few minutes: faults with a duration are then short. False in `npm run faults`. */
  readonly short: boolean;
  /**
   * Call it when the fault has ended, if `strike` still does more, such as starting Weir again. The measured recovery time begins here. Without a
   * call, it begins when `strike` resolves.
   */
  over(): void;
  /** Call it with one sentence for each defect that `strike` finds. The fault then fails, but the remaining rounds and the audit still run. */
  found(defect: string): void;
  /** Call it with the number of dead letters that the fault must cause. */
  expectDeadLetters(count: number): void;
}

export interface FaultResult {
  readonly name: string;
  readonly about: string;
  readonly rounds: number;
  /** How many clients sent at the same time. */
  readonly clients: number;
  readonly acknowledged: number;
  readonly stored: number;
  readonly lost: number;
  readonly doubled: number;
  /** For each round, from the end of the fault until a new event was acknowledged and could be queried. */
  readonly recoveryMs: readonly number[];
  /** The number of requests of clients for each answer: a status, `no connection` or `no answer`. */
  readonly saw: ReadonlyMap<string, number>;
  /** What went wrong, such as a lost event or an unexpected answer. Empty if Weir has survived the fault. */
  readonly findings: readonly string[];
}
