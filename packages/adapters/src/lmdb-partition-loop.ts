import { DependencyError } from '@weir/domain/errors';
import type { Commit, ConsumeOptions, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import type { PartitionLog } from './lmdb-partition-log.ts';

const RETRY_PAUSE_MIN_MS = 100;
const RETRY_PAUSE_MAX_MS = 5_000;
const BATCH_RECORDS_MAX = 4_096;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
export const COMMIT_METADATA_BYTES_MAX = 2_000;

export interface PartitionLoop {
  /** Asks the loop to end; it does so after the `handle` under way and the consumer's `close`. */
  stop(): void;
  readonly done: Promise<void>;
}

export interface CommitStore {
  read(): Commit | undefined;
  write(commit: Commit): Promise<void>;
}

/** Delivers one partition to one consumer, until it is stopped. */
export function startPartitionLoop(log: PartitionLog, commits: CommitStore, options: ConsumeOptions): PartitionLoop {
  const { partition } = log;
  const recordsMax = options.batchRecordsMax ?? BATCH_RECORDS_MAX;
  const bytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX;
  const stopping = new AbortController();
  const { signal } = stopping;
  let owned = true;
  let sought: number | undefined;

  const committed = commits.read();
  const handle: PartitionHandle = {
    topic: log.topic,
    partition,
    committed,
    signal,
    async commit(commit) {
      if (!owned)
        throw new DependencyError('partition_lost', `partition ${partition} of ${log.topic} is not ours any more`);
      if (Buffer.byteLength(commit.metadata) > COMMIT_METADATA_BYTES_MAX) {
        throw new RangeError(`metadata of a commit is at most ${COMMIT_METADATA_BYTES_MAX} bytes`);
      }
      await commits.write(commit);
    },
    seek(offset) {
      sought = offset;
    },
  };

  /** Tries until it goes well or the loop is stopped. */
  async function insist<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    for (let pauseMs = RETRY_PAUSE_MIN_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, RETRY_PAUSE_MAX_MS)) {
      sought = undefined;
      try {
        return await attempt();
      } catch (error) {
        options.onError(error, partition);
      }
      await pause(pauseMs, signal);
    }
    return undefined;
  }

  async function deliver(consumer: PartitionConsumer): Promise<void> {
    const reader = log.createReader();
    let next = sought ?? committed?.offset ?? 0;
    while (!signal.aborted) {
      const records = reader.read(next, recordsMax, bytesMax);
      const last = records.at(-1);
      if (last === undefined) {
        await reached(log, next, signal);
        continue;
      }
      await insist(async () => {
        await consumer.handle(records as readonly StoredRecord[]);
        next = sought ?? last.offset + 1;
      });
      // A turn of the event loop, so that a partition with a backlog does not keep everything else waiting.
      await new Promise(setImmediate);
    }
  }

  async function run(): Promise<void> {
    const consumer = await insist(() => options.open(handle));
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

function reached(log: PartitionLog, offset: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      signal.removeEventListener('abort', finish);
      giveUp();
      resolve();
    };
    signal.addEventListener('abort', finish);
    let giveUp = (): void => {};
    giveUp = log.onReached(offset, finish);
    if (signal.aborted) finish();
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
}
