import { DependencyError } from '@weir/domain/errors';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import { type Batch, monthOf, type Row, type TimeRange } from './batch.ts';
import type { Plan } from './plan.ts';

export interface BatchLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
}

export interface WriterLimits extends BatchLimits {
  readonly lingerMs: number;
  /** For how long an insert with an unknown result may still add rows to the table. The default is `UNKNOWN_SETTLES_MS`. */
  readonly unknownSettlesMs?: number;
  /** After this time a paused partition raises an alarm. The default is `PAUSED_ALARM_MS`. */
  readonly pausedAlarmMs?: number;
}

/** Groups the rows of one partition into batches. Accepts each raw offset (offset in `events.raw`) once, in order, without a gap. */
export interface Batcher {
  /**
   * Adds a row. Returns false, and does not add the row, if its raw offset is lower than `next()`: the row is then a repeat. Throws
   * `event_log_damaged` if the outcome before this row is missing.
   */
  push(row: Row): boolean;
  /** Whether `take` would return a batch now. */
  ready(partial: boolean): boolean;
  /**
   * Returns the next full batch, or undefined. With `partial`, also returns the last batch if it is incomplete. A planned batch (see
   * `createBatcher`) is returned only when all rows of its plan were added.
   */
  take(partial: boolean): Batch | undefined;
  /** The number of full batches that were not taken yet. */
  fullBatches(): number;
  /** The first row that was not taken yet, or undefined. */
  firstRow(): Row | undefined;
  /** The raw offset that the next row must have. */
  next(): number;
}

/** `planned`: the plan of an insert (plan.ts) that was committed before. Its rows form one batch, even if the batch limits were changed. */
export function createBatcher(first: number, limits: BatchLimits, planned: Plan | undefined): Batcher {
  const full: Batch[] = [];
  let open: Row[] = [];
  let openBytes = 0;
  let openMonth: TimeRange = { from: 0, to: 0 };
  let next = first;

  const close = (): void => {
    const isPlan = planned !== undefined && open[0]?.rawOffset === planned.from;
    full.push(isPlan && planned.dead !== undefined ? { rows: open, dead: planned.dead } : { rows: open });
    open = [];
    openBytes = 0;
  };
  const inPlan = (rawOffset: number): boolean => planned !== undefined && rawOffset <= planned.to;

  return {
    push(row) {
      if (row.rawOffset < next) return false;
      if (row.rawOffset > next) {
        throw new DependencyError(
          'event_log_damaged',
          `${TOPIC_ENRICHED} offset ${row.offset}: expected the outcome of raw offset ${next}, found that of ${row.rawOffset}: outcomes are missing`,
        );
      }
      const head = open[0];
      const isOfMonth = row.receivedAt >= openMonth.from && row.receivedAt < openMonth.to;
      const differs = head !== undefined && (head.version !== row.version || !isOfMonth);
      const overflows = open.length > 0 && openBytes + row.line.byteLength > limits.bytesMax;
      if ((differs || overflows) && !inPlan(row.rawOffset)) close();
      if (open.length === 0) openMonth = monthOf(row.receivedAt);
      open.push(row);
      openBytes += row.line.byteLength;
      next = row.rawOffset + 1;
      if (inPlan(row.rawOffset) ? row.rawOffset === planned?.to : open.length >= limits.rowsMax) close();
      return true;
    },
    ready: (partial) => full.length > 0 || (partial && open[0] !== undefined && !inPlan(open[0].rawOffset)),
    take(partial) {
      if (full.length === 0 && partial && open[0] !== undefined && !inPlan(open[0].rawOffset)) close();
      return full.shift();
    },
    fullBatches: () => full.length,
    firstRow: () => full[0]?.rows[0] ?? open[0],
    next: () => next,
  };
}
