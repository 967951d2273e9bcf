/**
 * The event log: topics of durable, ordered, partitioned records, and tables (compacted topics).
 * Embedded: `packages/adapters/src/lmdb/lmdb-event-log.ts`. Distributed: `packages/adapters/src/kafka/kafka-event-log.ts`. Both pass
 * `packages/ports/contract/event-log.contract.ts`.
 * Offsets are integers from 0. Within a partition there are no gaps, except where retention removed the oldest records.
 */
export interface EventLog {
  /** Random ID, created and stored with the log. A log that was created again has another ID. At most 36 characters. */
  readonly logId: string;
  readonly partitionCount: number;

  /**
   * Appends records. A record goes to its `partition`; without one, to the partition that its `key` maps to. A key maps to the
   * same partition for the life of the log.
   *
   * Resolves with one outcome per record, in order. It does not reject when the log is unavailable:
   * - `stored`: the record is durable (fsynced, or acknowledged by all in-sync replicas) and visible to consumers.
   * - `refused`: the record is certainly not in the log (no connection, no leader before the deadline, disk or buffer full).
   * - `unknown`: the record may or may not be in the log, now or later. Appending it again may store it twice.
   *
   * Records of one call to one partition are stored in order and next to each other. If one of them is not `stored`, no later record
   * of the call is stored in that partition; other partitions are not affected. Two calls may be stored in either order, unless
   * the second call was made after the first one resolved.
   */
  append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]>;

  /**
   * Resolves when this member has subscribed to the topic within a group. Partitions are assigned later, through `options.open`.
   * Delivery starts at the committed offset. Without a commit it starts at the earliest record, never at the latest.
   * A partition is assigned to one member at a time. A caller cannot assume exclusive ownership: a member that was
   * unreachable may still work on a partition that was reassigned. Its commits are rejected with `partition_lost`.
   */
  consume(options: ConsumeOptions): Promise<Subscription>;

  /**
   * Resolves with the positions of the given partitions (default: all, in order of their numbers). Rejects with
   * `event_log_unavailable` if one of them cannot be reached. `atLeast`: an end that the partitions had before. If a partition ends earlier, the log
   * first checks that this is not the answer of a former leader. Pass it if an earlier end means that records were lost.
   */
  positions(
    topic: string,
    group: string,
    partitions?: readonly number[],
    atLeast?: number,
  ): Promise<readonly PartitionPosition[]>;

  /**
   * Resolves, for each partition, with the lowest offset whose record was appended at or after `timeMs` (Unix milliseconds), or
   * the end offset if there is no such record. Rejects with `event_log_unavailable`.
   */
  offsetsAtTime(topic: string, timeMs: number): Promise<readonly number[]>;

  /**
   * Reads records of one partition outside any group. Starts at `from`, or at the oldest remaining record if retention removed
   * the one at `from`. Resolves with at least one record if there is one, otherwise with an empty list. The values together have about
   * `bytesMax` bytes at most. Rejects with `event_log_unavailable`.
   */
  read(topic: string, partition: number, from: number, bytesMax: number): Promise<readonly StoredRecord[]>;

  /**
   * Removes the records of partition p below `offsets[p]`, for each partition. Some of them can stay: if the log stores several records as
   * one unit, the unit stays as long as one of its records must stay. The offsets of other records, and the end of the partition, stay the
   * same. `offsets[p]` is at most the end of partition p. Rejects with `event_log_unavailable`; some of the records can then be removed already.
   */
  removeBefore(topic: string, offsets: readonly number[]): Promise<void>;

  /** Resolves when the table (a compacted topic) has been read to its end. Rejects with `event_log_unavailable`. */
  openTable(name: string): Promise<LogTable>;

  /** Resolves if the log can accept records now; rejects with `event_log_unavailable`. Cheap enough for each GET /readyz. */
  ping(): Promise<void>;

  /** Resolves when running appends have settled and all resources are released. Close subscriptions and tables first. */
  close(): Promise<void>;
}

export interface AppendRecord {
  /** Selects the partition if `partition` is not set. At most 512 characters. */
  readonly key?: string;
  readonly partition?: number;
  readonly value: Uint8Array;
  /** Names and values are short ASCII strings. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type AppendOutcome =
  | { readonly status: 'stored'; readonly partition: number; readonly offset: number }
  | { readonly status: 'refused'; readonly reason: string }
  | { readonly status: 'unknown'; readonly reason: string };

export interface StoredRecord {
  readonly offset: number;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** When the log stored the record, in Unix milliseconds. */
  readonly appendedAt: number;
}

export interface ConsumeOptions {
  readonly topic: string;
  readonly group: string;
  /** Called when a partition is assigned, before its first record is delivered. If it rejects, it is called again with backoff. */
  open(partition: PartitionHandle): Promise<PartitionConsumer>;
  /** Reports a failure that the subscription retries, such as a rejected `open` or `handle`, or an unavailable broker. For log lines and metrics. */
  onError(error: unknown, partition: number | undefined): void;
  /** Records per `handle` call; default 4,096. */
  readonly batchRecordsMax?: number;
  /** Bytes of values per `handle` call; a single larger record is still delivered. Default 4 MiB. */
  readonly batchBytesMax?: number;
}

export interface PartitionHandle {
  readonly topic: string;
  readonly partition: number;
  /**
   * The group's last commit at the time of the assignment, or a later commit of this handle; `undefined` if there is none. So if `open` commits and
   * then rejects, the next call of `open` finds this commit.
   */
  readonly committed: Commit | undefined;
  /** Aborts when the partition is revoked or the subscription closes. Work that waits must then stop waiting. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the commit is durable: after a restart or a reassignment, delivery starts at `commit.offset`. Rejects with
   * `partition_lost` if the partition was reassigned to another member, otherwise with `event_log_unavailable`.
   */
  commit(commit: Commit): Promise<void>;
  /** The next `handle` call starts at this offset. Call it within `open` or `handle`; it takes effect when that call resolves. */
  seek(offset: number): void;
  /**
   * Requests one `handle` call soon, without records if there are none. May be called at any time; has no effect after `signal`
   * aborts. Several calls before the next `handle` call count as one.
   */
  wake(): void;
}

export interface Commit {
  /** The next offset to read. */
  readonly offset: number;
  /** Free text, at most 2,000 bytes. */
  readonly metadata: string;
}

export interface PartitionConsumer {
  /**
   * Handles consecutive records of one partition, or none after `wake`. When it has resolved, the next call delivers the records
   * after the last one. If it rejects, `onError` is called, and the same records are delivered again to the same
   * consumer, with backoff (100 ms, doubling to 5 s). Offsets are not committed automatically.
   */
  handle(records: readonly StoredRecord[]): Promise<void>;
  /**
   * Called if the partition ends at the offset `end`, before the next record to deliver: the log has lost records. The log delivers no further
   * records to this consumer. New records can get the lost offsets, so a later assignment may not find the loss. If it rejects, it is called again.
   */
  truncated?(end: number): Promise<void>;
  /**
   * Called once when the partition is revoked or the subscription closes, after the last `handle` has settled. The consumer may
   * still commit; a commit rejects with `partition_lost` if the partition was already reassigned.
   */
  close(): Promise<void>;
}

export interface Subscription {
  /** True while this member takes part in the group, also if no partition is assigned to it. */
  joined(): boolean;
  /** Resolves when every partition's consumer has closed. */
  close(): Promise<void>;
}

export interface PartitionPosition {
  readonly partition: number;
  /** The lowest offset that retention has not removed. */
  readonly first: number;
  /** One past the highest offset that consumers can read. */
  readonly end: number;
  /**
   * One past the highest offset that was written. `undefined` if consumers can read every written record. Consumers can read the records from
   * `end` up to this offset later, unless the log loses these records. The outcome of their appends is `unknown`, or their appends have not
   * resolved yet.
   */
  readonly written?: number;
  /** The offset of the group's last commit; `undefined` if there is no commit. */
  readonly committed: number | undefined;
  /** The metadata of the group's last commit; `undefined` if there is no commit. */
  readonly metadata: string | undefined;
}

/** A compacted topic. Each process that opens it holds all of its rows in memory. */
export interface LogTable {
  /** The current value of every key, in the order in which the keys were last put. Values are JSON text. */
  entries(): ReadonlyMap<string, string>;
  /**
   * Sets a value; `undefined` removes the key. Resolves when the change is durable and applied in this process. Other
   * processes apply it within a second. Rejects with `event_log_unavailable`; the change may still become durable later.
   */
  put(key: string, value: string | undefined): Promise<void>;
  /** The listener is called for each later change, in log order. For a change of this process, it is called before the `put` resolves. */
  onChange(listener: (key: string, value: string | undefined) => void): void;
  /**
   * Call it after this process has read a record. Resolves when this process has applied every change of the table that was made before
   * the record was appended. Rejects with `event_log_unavailable`.
   */
  catchUp(): Promise<void>;
  /** The time since this process last read the topic of the table, in milliseconds. 0 if the table is not read from a topic. */
  unreadMs(): number;
  close(): Promise<void>;
}
