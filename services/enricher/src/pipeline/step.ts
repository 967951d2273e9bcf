import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import type { DropReason } from '@weir/domain/records/outcome';
import type { FirstSeenKey } from '@weir/ports/state-store';
import type { BatchState } from './batch-overlay.ts';
import type { EnrichedEvent } from './enriched-event.ts';

/**
 * One step of the pipeline. Everything that the pipeline must know about a step is a member of this object.
 *
 * A batch is enriched in two phases, with one read of the state store between them:
 * 1. `prepare` of every step, for each event of the batch. The pipeline collects the state keys that `prepare` returns.
 * 2. `apply` of every step, for each event of the batch, in the order of the log.
 *
 * Within a phase, the steps run in the order of the pipeline's list. A step can therefore use what the steps before it have
 * prepared: `put-visitor` prepares the visitor ID, and `put-session` builds its state key from the visitor ID.
 *
 * A step that throws turns the record into a dead letter (`step_failed`).
 */
export interface Step {
  readonly name: string;
  /**
   * Whether the step needs the salt (docs/glossary.md) of the UTC day on which the record was received, and that of the day before. For a redriven
   * record (a dead letter that is processed again), the time at which it was redriven counts.
   */
  needsSalt?(event: EnrichedEvent): boolean;
  /**
   * Whether the registry (sites, rules and so on, in memory) may be too old for the step. The registry then reads its newest changes before
   * the batch is enriched.
   */
  needsNewerRegistry?(event: EnrichedEvent): boolean;
  /**
   * Fills in the fields from which state keys are built. Returns the state key that `apply` reads and writes, if the step needs
   * one.
   */
  prepare?(event: EnrichedEvent, salts: Salts): string | undefined;
  /** Fills in the fields of the step. Returns an ending if the event makes no row of its own; the steps after it then do not run. */
  apply?(event: EnrichedEvent, batch: ApplyContext): Ending | undefined;
}

/** Salts by UTC day (`YYYY-MM-DD`). */
export type Salts = ReadonlyMap<string, string>;

export interface ApplyContext {
  readonly state: BatchState;
  /** The record that came first with the event's idempotency key. */
  readonly firstSeen: FirstSeenKey | undefined;
  /** The record that came first in the same attempt to process the same dead letter again. Undefined for a record that is not redriven. */
  readonly firstRedrive?: FirstSeenKey | undefined;
}

/**
 * Why an event makes no row of its own. `dumped`: it contains a finished row of a dump (a file of `weir export everything`), which is stored
 * unchanged.
 */
export type Ending =
  | { readonly outcome: 'dumped'; readonly row: DumpedRow }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'erased' }
  | { readonly outcome: 'dropped'; readonly reason: DropReason; readonly ruleId: string };
