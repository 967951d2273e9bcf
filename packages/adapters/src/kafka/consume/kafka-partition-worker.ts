import { DependencyError } from '@weir/domain/errors';
import type { Commit, ConsumeOptions, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import { pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { FetchSource } from './kafka-fetcher.ts';
import { toStoredRecord } from './kafka-read.ts';

/**
 * The offset at which reading starts if there is no commit. If retention has removed the record at this offset, reading starts at the oldest
 * remaining record.
 */
const EARLIEST = 0;
const FETCH_BYTES_MAX = 2 * 1024 * 1024;
const BATCH_RECORDS_DEFAULT = 4096;
const BATCH_BYTES_DEFAULT = 4 * 1024 * 1024;

export interface PartitionWorkerDeps {
  readonly options: ConsumeOptions;
  readonly topic: string;
  /** The topic's full name in Kafka. */
  readonly fetchTopic: string;
  readonly partition: number;
  readonly committed: Commit | undefined;
  readonly commit: (commit: Commit) => Promise<void>;
  /** Called when `source.wanted()` may have changed. */
  readonly wake: () => void;
}

/** Processes one assigned partition: fetches records ahead, and calls the consumer with one batch at a time, in order. */
export interface PartitionWorker {
  readonly source: FetchSource;
  /** Aborts `PartitionHandle.signal`. Resolves when the consumer is closed. */
  stop(): Promise<void>;
}

export function startPartitionWorker(deps: PartitionWorkerDeps): PartitionWorker {
  const { options, topic, partition, wake } = deps;
  const recordsMax = options.batchRecordsMax ?? BATCH_RECORDS_DEFAULT;
  const bytesMax = options.batchBytesMax ?? BATCH_BYTES_DEFAULT;
  const stopping = new AbortController();
  const { signal } = stopping;
  let ready = false;
  /** Records that were fetched but not yet passed to the consumer. */
  let buffer: StoredRecord[] = [];
  let bufferBytes = 0;
  let nextFetch = deps.committed?.offset ?? EARLIEST;
  let seekOffset: number | undefined;
  let woken = false;
  let arrived: () => void = () => undefined;
  let commits: Promise<void> = Promise.resolve();
  let committed = deps.committed;
  let over = false;
  /**
   * True for a partition without a commit, until the first successful read. Until then, records that retention has removed are not reported as a
   * gap: a new group begins with the oldest remaining record.
   */
  let beginning = deps.committed === undefined;
  /**
   * The end of the partition if it is before the next offset to read: the log has lost records. Reading stops then. Otherwise it would continue with
   * a new record that has the offset of a lost one, and would skip other new records.
   */
  let truncatedAt: number | undefined;
  let isLossReported = false;

  const handle: PartitionHandle = {
    topic,
    partition,
    get committed() {
      return committed;
    },
    signal,
    commit(commit) {
      // Commits are sent one at a time, so that an earlier commit cannot overwrite a later one.
      const mine = commits.then(async () => {
        if (over) throw new DependencyError('partition_lost', `${topic}/${partition} was revoked`);
        await deps.commit(commit);
        committed = commit;
      });
      commits = mine.catch(() => undefined);
      return mine;
    },
    seek(offset) {
      seekOffset = offset;
    },
    wake() {
      woken = true;
      arrived();
    },
  };

  function damaged(message: string): void {
    options.onError(new DependencyError('event_log_damaged', message), partition);
  }

  function applySeek(): boolean {
    if (seekOffset === undefined) return false;
    nextFetch = seekOffset;
    seekOffset = undefined;
    buffer = [];
    bufferBytes = 0;
    return true;
  }

  function take(): readonly StoredRecord[] {
    let count = 0;
    let bytes = 0;
    while (count < buffer.length && count < recordsMax) {
      const size = buffer[count]!.value.length;
      if (count > 0 && bytes + size > bytesMax) break;
      bytes += size;
      count += 1;
    }
    bufferBytes -= bytes;
    return buffer.splice(0, count);
  }

  /**
   * Retries `work` with backoff until it succeeds. Reports each failure. A `seek` of an attempt that fails has no effect. Resolves with undefined
   * if the partition is revoked.
   */
  async function retrying<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      seekOffset = undefined;
      try {
        return await work();
      } catch (error) {
        options.onError(error, partition);
        await pauseBeforeRetry(attempt, signal);
      }
    }
    return undefined;
  }

  /** Called when the consumer has handled all records that were read. */
  async function reportLoss(consumer: PartitionConsumer, end: number): Promise<void> {
    isLossReported = true;
    await retrying(async () => consumer.truncated?.(end));
    damaged(
      `${topic}/${partition} ends at ${end}, but offset ${nextFetch} comes next: the log has lost records. The partition is not read until it is assigned again`,
    );
  }

  async function run(): Promise<void> {
    let consumer: PartitionConsumer | undefined;
    consumer = await retrying(() => options.open(handle));
    if (consumer === undefined) return;
    applySeek();
    ready = true;
    while (!signal.aborted) {
      const records = take();
      wake();
      if (records.length === 0 && !woken) {
        if (truncatedAt !== undefined && !isLossReported) await reportLoss(consumer, truncatedAt);
        await new Promise<void>((resolve) => {
          arrived = resolve;
          if (signal.aborted || woken || buffer.length > 0 || (truncatedAt !== undefined && !isLossReported)) resolve();
        });
        continue;
      }
      woken = false;
      await retrying(() => consumer.handle(records));
      applySeek();
    }
    await consumer.close();
  }

  const done = run()
    .catch((error: unknown) => options.onError(error, partition))
    .finally(() => {
      over = true;
    });

  const source: FetchSource = {
    topic: deps.fetchTopic,
    partition,
    fetchBytesMax: FETCH_BYTES_MAX,
    wanted: () =>
      ready && truncatedAt === undefined && bufferBytes < bytesMax && buffer.length < 2 * recordsMax
        ? nextFetch
        : undefined,
    deliver(offset, messages) {
      if (offset !== nextFetch) return;
      beginning = false;
      for (const message of messages) {
        const record = toStoredRecord(message);
        // A broker returns whole batches, so the first records may have lower offsets than the requested one.
        if (record.offset < nextFetch) continue;
        buffer.push(record);
        bufferBytes += record.value.length;
        nextFetch = record.offset + 1;
      }
      if (buffer.length > 0) arrived();
    },
    outOfRange(offset, first, end) {
      if (offset !== nextFetch) return;
      if (offset < first) {
        nextFetch = first;
        if (beginning) return;
        damaged(
          `${topic}/${partition} begins at ${first}, but offset ${offset} comes next: retention removed records that were not read yet`,
        );
      } else if (offset > end) {
        truncatedAt = end;
        arrived();
      }
    },
    onError: (error) => options.onError(error, partition),
  };

  return {
    source,
    async stop() {
      stopping.abort();
      arrived();
      await done;
    },
  };
}
