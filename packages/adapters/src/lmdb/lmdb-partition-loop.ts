import { DependencyError } from '@weir/domain/errors';
import type { Commit, ConsumeOptions, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { ReadableLog } from './lmdb-partition-reads.ts';

const BATCH_RECORDS_MAX = 4_096;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const COMMIT_METADATA_BYTES_MAX = 2_000;
/**
 * After a batch with fewer records than this, the loop waits until `PAUSE_MS` have passed since the start of the batch. New records then arrive
 * in fewer and larger batches. The enricher needs several durable writes per batch, also for a batch with one record.
 */
const SMALL_BATCH = 512;
const PAUSE_MS = 25;

export interface PartitionLoop {
  /** Stops the loop. `done` resolves after the running `handle` and the consumer's `close`. */
  stop(): void;
  readonly done: Promise<void>;
}

export interface CommitStore {
  read(): Commit | undefined;
  write(commit: Commit): Promise<void>;
}

/** Delivers the records of one partition to one consumer until it is stopped. */
export function startPartitionLoop(log: ReadableLog, commits: CommitStore, options: ConsumeOptions): PartitionLoop {
  const { partition } = log;
  const recordsMax = options.batchRecordsMax ?? BATCH_RECORDS_MAX;
  const bytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX;
  const stopping = new AbortController();
  const { signal } = stopping;
  let owned = true;
  let seekOffset: number | undefined;
  let woken = false;
  let endWait = (): void => {};

  const assigned = commits.read();
  let committed = assigned;
  const handle: PartitionHandle = {
    topic: log.topic,
    partition,
    get committed() {
      return committed;
    },
    signal,
    async commit(commit) {
      if (!owned)
        throw new DependencyError(
          'partition_lost',
          `partition ${partition} of ${log.topic} was reassigned: this member cannot commit`,
        );
      if (Buffer.byteLength(commit.metadata) > COMMIT_METADATA_BYTES_MAX) {
        throw new RangeError(`the metadata of a commit exceeds ${COMMIT_METADATA_BYTES_MAX} bytes`);
      }
      await commits.write(commit);
      committed = commit;
    },
    seek(offset) {
      seekOffset = offset;
    },
    wake() {
      woken = true;
      endWait();
    },
  };

  /** Retries `attempt` with backoff. Resolves with its result, or with `undefined` if the loop is stopped before it succeeds. */
  async function retryUntilStopped<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    for (let retries = 0; !signal.aborted; retries++) {
      seekOffset = undefined;
      try {
        return await attempt();
      } catch (error) {
        options.onError(error, partition);
      }
      await pauseBeforeRetry(retries, signal);
    }
    return undefined;
  }

  async function deliver(consumer: PartitionConsumer): Promise<void> {
    const reader = log.createReader();
    let next = seekOffset ?? assigned?.offset ?? 0;
    while (!signal.aborted) {
      // If an entry is damaged, `read` throws. The loop reports the error and retries. Other partitions continue.
      const records = await retryUntilStopped(async () => reader.read(next, recordsMax, bytesMax));
      if (records === undefined) return;
      const last = records.at(-1);
      if (last === undefined && !woken) {
        // Retention can have removed all records from `next` on. Then `log.first()` is the end of the partition, where the next record will be.
        await recordAvailable(log, Math.max(next, log.first()), signal, (end) => {
          endWait = end;
        });
        // Lets other work of this thread run, because the wait above can end at once.
        await new Promise(setImmediate);
        continue;
      }
      woken = false;
      const startedAt = performance.now();
      await retryUntilStopped(async () => {
        await consumer.handle(records as readonly StoredRecord[]);
        next = seekOffset ?? (last === undefined ? next : last.offset + 1);
      });
      const restMs = records.length < SMALL_BATCH ? startedAt + PAUSE_MS - performance.now() : 0;
      // Even without a pause, other work of this thread must run between two batches.
      await (restMs > 0 ? pauseUnlessAborted(restMs, signal) : new Promise(setImmediate));
    }
  }

  async function run(): Promise<void> {
    const consumer = await retryUntilStopped(() => options.open(handle));
    if (consumer !== undefined) {
      await deliver(consumer);
      try {
        await consumer.close();
      } catch (error) {
        options.onError(error, partition);
      }
    }
    owned = false;
  }

  return { stop: () => stopping.abort(), done: run() };
}

/**
 * Resolves when a record at or after `offset` is durable, or when the signal aborts. Calls `waiting` once, with a function that ends
 * the wait early.
 */
function recordAvailable(
  log: ReadableLog,
  offset: number,
  signal: AbortSignal,
  waiting: (end: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      signal.removeEventListener('abort', finish);
      stopWaiting();
      resolve();
    };
    signal.addEventListener('abort', finish);
    waiting(finish);
    let stopWaiting = (): void => {};
    stopWaiting = log.onAvailable(offset, finish);
    if (signal.aborted) finish();
  });
}
