/**
 * The event log: topics of ordered, durable, partitioned records, and tables (compacted topics).
 * Embedded: `adapters/lmdb-event-log.ts`. Distributed: `adapters/kafka-event-log.ts`. Both pass `contract/event-log.contract.ts`.
 * Offsets are whole numbers from 0, dense per partition of a topic unless retention removed the oldest.
 */
export interface EventLog {
  /** Random, made with the log and kept in it: a log that was made anew has another one. At most 36 chars. */
  readonly logId: string;
  readonly partitionCount: number;

  /**
   * Appends records, to `partition` where given, else to the partition that `key` maps to (the same key, the same
   * partition, for the life of the log). Resolves with one outcome per record, in order; it never rejects for a broken log:
   * - `stored`: durable (fsynced or acknowledged by all in-sync replicas), visible to consumers.
   * - `refused`: known not to be in the log (no connection, not the leader until the deadline, disk full, buffer full).
   * - `unknown`: may or may not be in the log, now or later. The caller must not append it again under a promise of "once".
   * Records of one call to one partition are stored in order, side by side, and never past a hole: once a record of the call
   * is not `stored`, no later record of the call is in that partition. Other partitions go their own way. Two calls may be
   * stored in either order, unless the second was made after the first resolved.
   */
  append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]>;

  /**
   * Consumes a topic within a group: each partition goes to one member at a time, as far as the log can tell (a member that
   * was away too long may go on for a while: commits of it are refused with `partition_lost`).
   * Starts at the committed offset, or at the earliest record where nothing is committed, never at the latest.
   */
  consume(options: ConsumeOptions): Promise<Subscription>;

  /** Where partitions of a topic stand, for a group; default: all of them, in order. Rejects where one of those asked for is away. */
  positions(topic: string, group: string, partitions?: readonly number[]): Promise<readonly PartitionPosition[]>;

  /** The lowest offset per partition whose record was appended at or after `timeMs`; the end offset where there is none. */
  offsetsAtTime(topic: string, timeMs: number): Promise<readonly number[]>;

  /** Opens a table (compacted topic), read to its end. Rejects with `event_log_unavailable`. */
  openTable(name: string): Promise<LogTable>;

  /** Resolves when the log can take records now; rejects with `event_log_unavailable`. Cheap enough for every /readyz. */
  ping(): Promise<void>;

  /** Waits for appends under way, then lets go. Subscriptions and tables must be closed before. */
  close(): Promise<void>;
}

export interface AppendRecord {
  /** Decides the partition where none is given. At most 512 chars. */
  readonly key?: string;
  readonly partition?: number;
  readonly value: Uint8Array;
  /** Short ASCII texts. */
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
  /** Unix milliseconds at which the log took it. */
  readonly appendedAt: number;
}

export interface ConsumeOptions {
  readonly topic: string;
  readonly group: string;
  /** Called each time this member is given a partition, before any of its records. Retried with a pause while it rejects. */
  open(partition: PartitionHandle): Promise<PartitionConsumer>;
  /** A failure that the subscription goes on from (a handler that rejected, a broker away): for the log and the metrics. */
  onError(error: unknown, partition: number | undefined): void;
  /** At most this many records per `handle` call; default 4,096. */
  readonly batchRecordsMax?: number;
  /** At most this many bytes of values per `handle` call, one record at least; default 4 MiB. */
  readonly batchBytesMax?: number;
}

export interface PartitionHandle {
  readonly topic: string;
  readonly partition: number;
  /** What the group last committed here; `undefined` where it never did. */
  readonly committed: Commit | undefined;
  /** Aborts when the partition is taken away or the subscription closes: give up waiting. */
  readonly signal: AbortSignal;
  /**
   * Commits: after a restart or a takeover, records from `commit.offset` on are delivered (again). Resolves when durable.
   * Rejects with `partition_lost` when the partition belongs to another member by now, `event_log_unavailable` otherwise.
   */
  commit(commit: Commit): Promise<void>;
  /** The next `handle` call begins at this offset. May be called within `open` and within `handle` (takes effect after it). */
  seek(offset: number): void;
}

export interface Commit {
  /** The next offset to be read. */
  readonly offset: number;
  /** Free text, at most 2,000 bytes. */
  readonly metadata: string;
}

export interface PartitionConsumer {
  /**
   * Handles records that follow each other in one partition. The next call comes only after this one has resolved, and goes
   * on after the last record. When it rejects, `onError` is told and, after a pause (100 ms, doubling to 5 s), the same
   * records are delivered again to the same consumer.
   */
  handle(records: readonly StoredRecord[]): Promise<void>;
  /** The partition was taken away or the subscription closes; called once, after the last `handle` has settled. Last chance to commit. */
  close(): Promise<void>;
}

export interface Subscription {
  /** This member takes part in the group now, with partitions or, where the others have them all, without. */
  joined(): boolean;
  /** Resolves when every partition's consumer has closed. */
  close(): Promise<void>;
}

export interface PartitionPosition {
  readonly partition: number;
  /** The lowest offset that is still there. */
  readonly first: number;
  /** One past the highest offset. */
  readonly end: number;
  readonly committed: number | undefined;
}

/** A compacted topic, held in memory by every process that opened it. */
export interface LogTable {
  /** Every key's value now, in the log's order of each key's last put. Values are JSON text. */
  entries(): ReadonlyMap<string, string>;
  /** Resolves when durable and applied here; elsewhere within a second. `undefined` removes. Rejects with `event_log_unavailable`. */
  put(key: string, value: string | undefined): Promise<void>;
  /** Called for each change after `openTable`, own ones included, in the log's order, before the `put` resolves. */
  onChange(listener: (key: string, value: string | undefined) => void): void;
  close(): Promise<void>;
}
