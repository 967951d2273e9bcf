import { isDependencyError } from '@weir/domain/errors';
import { rawOffsetOf } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type {
  Commit,
  ConsumeOptions,
  EventLog,
  PartitionConsumer,
  PartitionHandle,
  StoredRecord,
} from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { readSegment, verifySegment } from '@weir/runtime/archive/read-segment';
import { pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { ReplayGate } from '../replay-gate.ts';
import { type ArchiveRun, segmentsFrom } from './archive-runs.ts';

export interface ArchiveLogDeps {
  readonly eventLog: EventLog;
  readonly store: ObjectStore;
  readonly gate: ReplayGate;
  readonly run: ArchiveRun;
  /** The last commit of a writer that read these segments (`run`), possibly in another process. Undefined if there is no commit. */
  readonly committed: Commit | undefined;
  /** Reading ends before the first record with this raw offset (docs/glossary.md) or a higher one. */
  readonly rawEnd: number;
  /** Resolves when the commit is durable. */
  readonly save: (commit: Commit) => Promise<void>;
}

export interface ArchiveLog {
  /** An event log whose only partition contains the records of the run. */
  readonly eventLog: EventLog;
  /** Resolves when the consumer has committed all delivered records of the run. The value is their highest raw offset plus 1. */
  readonly finished: Promise<number>;
}

/**
 * Presents a run (archived segments of one partition) as an event log, so that the code of the writer can consume it. Verifies the checksum of a
 * whole segment before it delivers the records of the segment.
 */
export function createArchiveLog(deps: ArchiveLogDeps): ArchiveLog {
  const { run, eventLog } = deps;
  let finish: (rawNext: number) => void = () => undefined;
  const finished = new Promise<number>((resolve) => {
    finish = resolve;
  });
  return {
    finished,
    eventLog: {
      ...eventLog,
      logId: run.logId,
      positions: async () => [
        { partition: run.partition, first: 0, end: Number.MAX_SAFE_INTEGER, committed: undefined, metadata: undefined },
      ],
      async consume(options) {
        const stop = new AbortController();
        const consuming = consumeRun(deps, options, stop.signal, finish);
        return {
          joined: () => !stop.signal.aborted,
          async close() {
            stop.abort();
            await consuming;
          },
        };
      },
    },
  };
}

const LOOK_EVERY_MS = 1_000;

async function consumeRun(
  { store, gate, run, committed: resumed, rawEnd, save }: ArchiveLogDeps,
  options: ConsumeOptions,
  signal: AbortSignal,
  finish: (rawNext: number) => void,
): Promise<void> {
  const { partition } = run;
  let committed = resumed;
  /** The next offset to deliver. */
  let next = resumed === undefined ? run.from : Math.max(run.from, resumed.offset - 1);
  /**
   * True until the first segment is read. Delivery begins at the start of this segment, even if its first records are committed. `rawNext`, one
   * past the highest delivered raw offset, then includes their raw offsets. The writer skips records that it has already inserted.
   */
  let isFirst = true;
  let rawNext = 0;
  let wake = (): void => undefined;
  let sought = false;

  const handle: PartitionHandle = {
    topic: TOPIC_ENRICHED,
    partition,
    committed,
    signal,
    async commit(commit) {
      await save(commit);
      committed = commit;
      wake();
    },
    seek(offset) {
      next = offset;
      sought = true;
    },
    wake: () => wake(),
  };

  async function handled(consumer: PartitionConsumer, records: readonly StoredRecord[]): Promise<void> {
    sought = false;
    await consumer.handle(records);
    const last = records.at(-1);
    if (sought || last === undefined) return;
    next = last.offset + 1;
    rawNext = Math.max(rawNext, ...records.map((record) => rawOffsetOf(record) + 1));
  }

  /** Delivers the records of a batch. Resolves with false if the consumer has called `seek` or the signal aborts. */
  async function deliver(consumer: PartitionConsumer, batch: readonly StoredRecord[]): Promise<boolean> {
    let rest = batch.filter(({ offset }) => offset >= next);
    while (rest.length > 0) {
      const count = await gate.admit(partition, rest.map(rawOffsetOf), signal);
      if (count === 0) return false;
      const admitted = rest.slice(0, count);
      await gate.slice(() => handled(consumer, admitted));
      if (sought) return false;
      rest = rest.slice(count);
    }
    return true;
  }

  /** Delivers the rest of the run, up to `rawEnd`. Resolves with true if all of these records were delivered. */
  async function deliverRun(consumer: PartitionConsumer): Promise<boolean> {
    for await (const segment of segmentsFrom(store, run, next)) {
      if (isFirst) next = segment.from;
      isFirst = false;
      await verifySegment(store, segment);
      for await (const batch of readSegment(store, segment)) {
        const end = batch.findIndex((record) => rawOffsetOf(record) >= rawEnd);
        if (!(await deliver(consumer, end < 0 ? batch : batch.slice(0, end)))) return false;
        if (end >= 0) return true;
      }
    }
    return true;
  }

  /** Waits until the consumer has committed all delivered records, or has called `seek`, or the signal aborts. */
  async function untilCommitted(consumer: PartitionConsumer): Promise<void> {
    while (!signal.aborted && !sought && (committed?.offset ?? run.from) < next) {
      const woken = new AbortController();
      wake = () => woken.abort();
      await pauseUnlessAborted(LOOK_EVERY_MS, woken.signal, signal);
      await handled(consumer, []);
    }
  }

  async function work(consumer: PartitionConsumer): Promise<void> {
    while (!signal.aborted) {
      sought = false;
      if (!(await deliverRun(consumer))) continue;
      await untilCommitted(consumer);
      if (sought || signal.aborted) continue;
      finish(rawNext);
      return;
    }
  }

  let consumer: PartitionConsumer | undefined;
  for (let failures = 0; !signal.aborted; ) {
    try {
      consumer ??= await options.open(handle);
      await work(consumer);
      break;
    } catch (error) {
      options.onError(error, partition);
      if (isDependencyError(error, 'partition_lost')) break;
      await pauseBeforeRetry(failures++, signal);
    }
  }
  await consumer?.close().catch((error: unknown) => options.onError(error, partition));
}
