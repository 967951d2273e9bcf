import type { StoredRecord } from '@weir/ports/event-log';
import { type Batch, type Row, readRow } from './batch.ts';
import { type BatchLimits, createBatcher } from './batcher.ts';
import type { Plan } from './plan.ts';
import { withLine } from './replayed-rows.ts';

/** Collects the rows of one partition until a batch is full or the linger time is over. */
export interface Gatherer {
  /**
   * Adds records of `events.enriched`, and returns how many of them were repeats. Throws `event_log_damaged` if a raw offset (docs/glossary.md) is
   * missing between two records, or if a record has an invalid header. The rows before this error were added and will be inserted.
   */
  push(records: readonly StoredRecord[]): number;
  /** True if the last `push` threw. */
  hasGap(): boolean;
  /**
   * Resolves when a batch is ready, when the linger time is over (even if all pushed rows were repeats), when `interrupted` returns true, or when the
   * signal aborts.
   */
  due(): Promise<void>;
  /** True if a full batch waits, or if the linger time is over and an incomplete batch waits. An incomplete planned range does not count. */
  ready(): boolean;
  /** Returns the next batch. May only be called while `ready` is true. */
  take(): Batch;
  /**
   * Resolves when no full batch waits any more, or when the signal aborts. Await it after each `push`: this limits the memory to two batches and one
   * delivery.
   */
  room(): Promise<void>;
  /**
   * Call it after each attempt to commit the position. `committed`: whether the position is committed. Ends a linger time that is over. Then, if no
   * linger time is running, starts one if a pushed row was not taken yet or if the position is not committed.
   */
  restLinger(committed: boolean): void;
  /** Makes `due` call `interrupted` again. */
  lookAgain(): void;
  /** The first row that was not taken yet, or undefined. */
  firstRow(): Row | undefined;
  /** The offset in `events.enriched` after the last record that was pushed. */
  readTo(): number;
  /** The raw offset (offset in `events.raw`) that the next row must have. */
  nextRawOffset(): number;
  /** Resolves all promises of `due` and `room`, and stops the timer of the linger time. */
  close(): void;
}

export interface GathererOptions {
  readonly limits: BatchLimits & { readonly lingerMs: number };
  readonly firstRawOffset: number;
  readonly firstOffset: number;
  /** The plan of an insert (plan.ts) that was committed before, if any. Its rows come first and form one batch. */
  readonly planned: Plan | undefined;
  /** Whether `due` must resolve at once. */
  readonly interrupted: () => boolean;
  /** Only for a replay (replayed-rows.ts). Returns the line that is inserted for a row, or undefined if the row is not inserted. */
  readonly lineOf: ((row: Row) => Uint8Array | undefined) | undefined;
  /** Whether more rows will follow soon. The linger time is then extended, up to `LINGER_EXTENDED_MS`. */
  readonly expectsMore: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * The longest extension of a linger time. A replay reads all partitions at the same time, so it takes seconds to fill a batch of one partition. With
 * the linger time of live rows, the inserts of a replay had a quarter of the rows, and ClickHouse needed twice the CPU time for each row.
 */
const LINGER_EXTENDED_MS = 10_000;

export function createGatherer(options: GathererOptions): Gatherer {
  const { limits, signal, lineOf } = options;
  const batcher = createBatcher(options.firstRawOffset, limits, options.planned);
  const changed = createCondition();
  let readTo = options.firstOffset;
  let gap = false;
  let timer: NodeJS.Timeout | undefined;
  let lingerOver = false;
  /** By how much the present linger time was extended, in milliseconds. */
  let extendedMs = 0;
  let closed = false;

  const stopped = (): boolean => closed || signal.aborted;
  const ready = (): boolean => batcher.ready(lingerOver);
  signal.addEventListener('abort', changed.notify);

  function startLinger(): void {
    if (lingerOver || stopped()) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (extendedMs < LINGER_EXTENDED_MS && options.expectsMore()) {
        extendedMs += limits.lingerMs;
        startLinger();
        return;
      }
      lingerOver = true;
      changed.notify();
    }, limits.lingerMs);
  }

  function stopLinger(): void {
    clearTimeout(timer);
    timer = undefined;
    lingerOver = false;
    extendedMs = 0;
  }

  return {
    push(records) {
      startLinger();
      let repeats = 0;
      gap = true;
      try {
        for (const record of records) {
          const row = readRow(record);
          if (!batcher.push(lineOf === undefined ? row : withLine(row, lineOf(row)))) repeats++;
          readTo = Math.max(readTo, record.offset + 1);
        }
        gap = false;
      } finally {
        if (batcher.fullBatches() > 0) changed.notify();
      }
      return repeats;
    },
    hasGap: () => gap,
    due: () => changed.until(() => stopped() || lingerOver || ready() || options.interrupted()),
    ready,
    take() {
      const batch = batcher.take(lingerOver) as Batch;
      extendedMs = 0;
      if (batcher.firstRow() === undefined) stopLinger();
      changed.notify();
      return batch;
    },
    room: () => changed.until(() => stopped() || batcher.fullBatches() === 0),
    restLinger(committed) {
      if (lingerOver) stopLinger();
      if (!committed || batcher.firstRow() !== undefined) startLinger();
    },
    lookAgain: changed.notify,
    firstRow: batcher.firstRow,
    readTo: () => readTo,
    nextRawOffset: batcher.next,
    close() {
      closed = true;
      signal.removeEventListener('abort', changed.notify);
      stopLinger();
      changed.notify();
    },
  };
}

/** Lets several callers wait until a condition is true. `notify` makes each of them check its condition again. */
function createCondition() {
  let waiting: (() => void)[] = [];
  return {
    notify(): void {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    async until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
