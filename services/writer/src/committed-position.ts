import type { PartitionHandle } from '@weir/ports/event-log';
import type { Gatherer } from './gatherer.ts';
import type { PlannedInsert } from './insert-batch.ts';
import { encodeProgress } from './plan.ts';

/** The commits of the writer of one partition: the plan of its next insert, or the position before the first waiting row. */
export interface CommittedPosition {
  /** `offset`: the offset of the first row of the plan. */
  commitPlan(offset: number, insert: PlannedInsert): Promise<void>;
  /** Commits that every row before the first waiting one is stored. Without it, a takeover would repeat a very old plan. */
  commitPosition(): Promise<void>;
  /** Commits the position with a note that the partition is paused for this swap. A new owner then also waits until the swap is over. */
  commitPaused(swap: number): Promise<void>;
  isCommitted(): boolean;
}

/** `planned`: the last commit of the handle is a plan, so the position is not committed yet. */
export function createCommittedPosition(
  handle: PartitionHandle,
  gatherer: Gatherer,
  { next, planned }: { readonly next: number; readonly planned: boolean },
): CommittedPosition {
  /** The last committed offset and next raw offset. -1: a plan was committed. */
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
