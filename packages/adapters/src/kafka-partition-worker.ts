import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { Commit, ConsumeOptions, PartitionConsumer, PartitionHandle, StoredRecord } from '@weir/ports/event-log';
import type { KafkaMessage } from 'kafkajs';
import type { FetchSource } from './kafka-fetcher.ts';

const RETRY_PAUSE_FIRST_MS = 100;
const RETRY_PAUSE_MAX_MS = 5000;
/** Where nothing was committed; retention may have taken what was there. */
const EARLIEST = 0;
const FETCH_BYTES_MAX = 2 * 1024 * 1024;
const BATCH_RECORDS_DEFAULT = 4096;
const BATCH_BYTES_DEFAULT = 4 * 1024 * 1024;

export interface PartitionWorkerDeps {
  readonly options: ConsumeOptions;
  readonly topic: string;
  /** The topic's name as the broker knows it. */
  readonly fetchTopic: string;
  readonly partition: number;
  readonly committed: Commit | undefined;
  readonly commit: (commit: Commit) => Promise<void>;
  /** Tells the fetcher that `wanted` has changed. */
  readonly wake: () => void;
}

/** One partition in one member's hands: reads ahead, calls the consumer with one batch at a time, in order. */
export interface PartitionWorker {
  readonly source: FetchSource;
  /** Aborts the handle's signal; resolves when the consumer has closed. */
  stop(): Promise<void>;
}

export function startPartitionWorker(deps: PartitionWorkerDeps): PartitionWorker {
  const { options, topic, partition, wake } = deps;
  const recordsMax = options.batchRecordsMax ?? BATCH_RECORDS_DEFAULT;
  const bytesMax = options.batchBytesMax ?? BATCH_BYTES_DEFAULT;
  const stopping = new AbortController();
  const { signal } = stopping;
  let ready = false;
  /** Read ahead, not handled yet. */
  let buffer: StoredRecord[] = [];
  let bufferBytes = 0;
  let nextFetch = deps.committed?.offset ?? EARLIEST;
  let sought: number | undefined;
  let arrived: () => void = () => undefined;
  let commits: Promise<void> = Promise.resolve();
  let over = false;
  /** Nothing was read yet, and nothing promised by a commit: what retention took before is no loss of ours. */
  let beginning = deps.committed === undefined;
  /** What was to be read next is gone: whatever comes to that offset later is not what follows the last record that was read. */
  let cut = false;

  const handle: PartitionHandle = {
    topic,
    partition,
    committed: deps.committed,
    signal,
    commit(commit) {
      // One after the other: a later commit never loses to an earlier one.
      const mine = commits.then(() => {
        if (over) throw new DependencyError('partition_lost', `${topic}/${partition} was given back`);
        return deps.commit(commit);
      });
      commits = mine.catch(() => undefined);
      return mine;
    },
    seek(offset) {
      sought = offset;
    },
  };

  function damaged(message: string): void {
    options.onError(new DependencyError('event_log_damaged', message), partition);
  }

  function applySeek(): boolean {
    if (sought === undefined) return false;
    nextFetch = sought;
    sought = undefined;
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

  /** Does `work` until it succeeds or the partition is taken away, telling of each failure. */
  async function insist<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (let wait = RETRY_PAUSE_FIRST_MS; !signal.aborted; wait = Math.min(wait * 2, RETRY_PAUSE_MAX_MS)) {
      try {
        return await work();
      } catch (error) {
        options.onError(error, partition);
        if (sought !== undefined) return undefined;
        await pause(wait, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async function run(): Promise<void> {
    let consumer: PartitionConsumer | undefined;
    consumer = await insist(() => options.open(handle));
    if (consumer === undefined) return;
    applySeek();
    ready = true;
    while (!signal.aborted) {
      const records = take();
      wake();
      if (records.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
          if (signal.aborted || buffer.length > 0) resolve();
        });
        continue;
      }
      await insist(() => consumer.handle(records));
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
    wanted: () => (ready && !cut && bufferBytes < bytesMax && buffer.length < 2 * recordsMax ? nextFetch : undefined),
    deliver(offset, messages) {
      if (offset !== nextFetch) return;
      beginning = false;
      for (const message of messages) {
        const record = toStoredRecord(message);
        // A batch is returned whole, from its first record on.
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
          `${topic}/${partition} begins at ${first}, but ${offset} was wanted: records were removed before they were read`,
        );
      } else if (offset > end) {
        cut = true;
        damaged(
          `${topic}/${partition} ends at ${end}, but ${offset} was wanted: the log has lost records; not read until it is taken anew`,
        );
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

function toStoredRecord(message: KafkaMessage): StoredRecord {
  const headers: Record<string, string> = {};
  for (const name in message.headers) headers[name] = String(message.headers[name]);
  return {
    offset: Number(message.offset),
    value: message.value ?? Buffer.alloc(0),
    headers,
    appendedAt: Number(message.timestamp),
  };
}
