import type { PartitionHandle } from '@weir/ports/event-log';
import type { Gatherer } from './gatherer.ts';
import type { PlannedInsert } from './insert-batch.ts';
import { encodeProgress } from './plan.ts';

/** Commits the progress of the writer of one partition: before each insert a plan (the range of rows of this insert), and otherwise a position. */
export interface CommittedPosition {
  /** Commits the plan of an insert. `offset`: the offset of the plan's first row in `events.enriched`. */
  commitPlan(offset: number, insert: PlannedInsert): Promise<void>;
  /**
   * Commits that all rows before the first row that still waits for its insert are stored. Does nothing if this position is committed already.
   * Without this commit, the next owner would repeat the insert of the last plan, however old it is.
   */
  commitPosition(): Promise<void>;
  /**
   * Commits the same position as `commitPosition`, with a note that the partition is paused for this swap (an exchange of all tables) or backup. A
   * new owner reads the note and also waits until the swap or backup is over.
   */
  commitPaused(swap: number): Promise<void>;
  /** Whether `commitPosition` would have nothing to commit. */
  isCommitted(): boolean;
}

/** `next`: the next raw offset to insert. `planned`: true if the last commit is a plan and not a position. */
export function createCommittedPosition(
  handle: PartitionHandle,
  gatherer: Gatherer,
  { next, planned }: { readonly next: number; readonly planned: boolean },
): CommittedPosition {
  /** The last commit: the offset in `events.enriched`, and the next raw offset (in `events.raw`). `next` is -1 if the last commit is a plan. */
  let committed = { offset: handle.committed?.offset ?? -1, next: planned ? -1 : next };

  function position(): { readonly offset: number; readonly next: number } {
    const first = gatherer.firstRow();
    return { offset: first?.offset ?? gatherer.readTo(), next: first?.rawOffset ?? gatherer.nextRawOffset() };
  }

  function isCommitted(): boolean {
    const { offset, next: rawOffset } = position();
    return offset === committed.offset && rawOffset === committed.next;
  }

  return {
    isCommitted,
    async commitPlan(offset, { plan }) {
      committed = { offset, next: -1 };
      await handle.commit({ offset, metadata: encodeProgress({ next: plan.from, plan }) });
    },
    async commitPosition() {
      if (isCommitted()) return;
      const reached = position();
      await handle.commit({ offset: reached.offset, metadata: encodeProgress({ next: reached.next }) });
      committed = reached;
    },
    async commitPaused(swap) {
      const { offset, next: rawOffset } = position();
      await handle.commit({ offset, metadata: encodeProgress({ next: rawOffset, paused: swap }) });
    },
  };
}
