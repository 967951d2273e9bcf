import { DependencyError } from '@weir/domain/errors';
import { partitionOf } from '@weir/domain/records/partition-of';
import type { AppendOutcome, AppendRecord, Commit, EventLog } from '@weir/ports/event-log';
import { type ConsumerGroup, createConsumerGroup } from '../lmdb-consumer-group.ts';
import { encodeHeaders } from '../lmdb-entry.ts';
import { openLmdb, openLogTables } from '../lmdb-log-environment.ts';
import { oldestUnreadAt } from '../lmdb-oldest-unread.ts';
import { type EncodedEntry, encodeEntries } from '../lmdb-partition-log.ts';
import type { CommitStore } from '../lmdb-partition-loop.ts';
import { createPartitionReads, type PartitionReads } from '../lmdb-partition-reads.ts';
import { createOwnedTables, type TableOwner } from './owned-tables.ts';

/** The calls to the thread that owns the log. A call that fails rejects with `event_log_unavailable`. */
export interface LogOwner extends TableOwner {
  readonly logId: string;
  readonly partitionCount: number;
  appendEntries(topic: string, partition: number, entries: readonly EncodedEntry[]): Promise<readonly AppendOutcome[]>;
  commit(topic: string, group: string, partition: number, commit: Commit): Promise<void>;
  /** Resolves with the present end offset of each partition. Later end offsets arrive through `ThreadLog.advance`. */
  follow(topic: string): Promise<readonly number[]>;
  removeBefore(topic: string, offsets: readonly number[]): Promise<void>;
  ping(): Promise<void>;
}

export interface ThreadLog extends EventLog {
  /** Makes the records up to `end` (exclusive) visible. Call it only when they are durable. */
  advance(topic: string, partition: number, end: number): void;
  changeRow(name: string, key: string, value: string | undefined): void;
  /** The time at which the oldest record that the group has not committed was appended; `Infinity` if there is none. */
  oldestUnreadAt(topic: string, group: string): Promise<number>;
}

/**
 * The embedded log for a thread that does not own it. This thread reads the files itself and sends its writes to the owner. The owner reports
 * changes of tables and new records in the order in which they were made. So before a record can be read, all earlier changes of tables are applied.
 */
export function openThreadLog(folder: string, owner: LogOwner): ThreadLog {
  const { logId, partitionCount } = owner;
  // The owner has the same file open in the same process, so lmdb shares one environment between both threads.
  const env = openLmdb(folder);
  const { entries, ends, commits } = openLogTables(env);
  const topics = new Map<string, Promise<readonly PartitionReads[]>>();
  const followed = new Map<string, readonly PartitionReads[]>();
  const groups = new Map<string, ConsumerGroup>();
  const tables = createOwnedTables(owner);
  let closed = false;

  // A read transaction does not show what the owner commits after it has begun. So each read begins a new read transaction.
  const beforeRead = (): void => env.resetReadTxn();

  function partitionsOf(topic: string): Promise<readonly PartitionReads[]> {
    let found = topics.get(topic);
    if (found === undefined) {
      const logs = Array.from({ length: partitionCount }, (_, partition) =>
        createPartitionReads(topic, partition, { entries, ends, beforeRead }),
      );
      // Calls of `advance` can arrive before `owner.follow` resolves. So the partitions must be in `followed` already.
      followed.set(topic, logs);
      found = owner.follow(topic).then((present) => {
        present.forEach((end, partition) => {
          advance(topic, partition, end);
        });
        return logs;
      });
      found.catch(() => topics.delete(topic));
      topics.set(topic, found);
    }
    return found;
  }

  function advance(topic: string, partition: number, end: number): void {
    const log = followed.get(topic)?.[partition];
    if (log === undefined || end <= log.end()) return;
    log.advance(end);
    log.waiting.wake();
  }

  function readCommit(topic: string, group: string, partition: number): Commit | undefined {
    beforeRead();
    return commits.get([group, topic, partition]);
  }

  function commitStore(topic: string, group: string, partition: number): CommitStore {
    return {
      read: () => readCommit(topic, group, partition),
      write: (commit) => owner.commit(topic, group, partition, commit),
    };
  }

  async function appendTo(
    topic: string,
    partition: number,
    records: readonly { readonly value: Uint8Array; readonly headers: string }[],
  ): Promise<readonly AppendOutcome[]> {
    const encoded = encodeEntries(records);
    const outcomes = await owner.appendEntries(topic, partition, encoded);
    return encoded.flatMap(({ count }, i) => {
      const first = outcomes[i] as AppendOutcome;
      return Array.from({ length: count }, (_, nth) =>
        first.status === 'stored' ? { ...first, offset: first.offset + nth } : first,
      );
    });
  }

  function assertOpen(): void {
    if (closed) throw new DependencyError('event_log_unavailable', 'the log is closed');
  }

  return {
    logId,
    partitionCount,
    advance,
    changeRow: tables.changeRow,

    async append(topic: string, records: readonly AppendRecord[]) {
      if (closed) return records.map(() => ({ status: 'refused', reason: 'the log is closed' }));
      const placed = new Map<number, { nth: number; value: Uint8Array; headers: string }[]>();
      records.forEach((record, nth) => {
        const partition = record.partition ?? partitionOf(record.key ?? '', partitionCount);
        const others = placed.get(partition) ?? [];
        others.push({ nth, value: record.value, headers: encodeHeaders(record.headers) });
        placed.set(partition, others);
      });
      const outcomes: AppendOutcome[] = new Array(records.length);
      await Promise.all(
        [...placed].map(async ([partition, own]) => {
          const found = await appendTo(topic, partition, own);
          own.forEach(({ nth }, i) => {
            outcomes[nth] = found[i] as AppendOutcome;
          });
        }),
      );
      return outcomes;
    },
    async consume(options) {
      const { topic, group: name } = options;
      const logs = await partitionsOf(topic);
      const id = `${name} ${topic}`;
      const group =
        groups.get(id) ??
        createConsumerGroup(
          logs.map(({ log }) => log),
          (partition) => commitStore(topic, name, partition),
        );
      groups.set(id, group);
      return group.join(options);
    },
    async positions(topic, group, asked) {
      const logs = await partitionsOf(topic);
      return (asked?.map((partition) => logs[partition]!) ?? logs).map(({ log }) => {
        const { partition } = log;
        const commit = readCommit(topic, group, partition);
        const { offset: committed, metadata } = commit ?? { offset: undefined, metadata: undefined };
        return { partition, first: log.first(), end: log.end(), committed, metadata };
      });
    },
    async offsetsAtTime(topic, timeMs) {
      return (await partitionsOf(topic)).map(({ log }) => log.offsetAtTime(timeMs));
    },
    async read(topic, partition, from, bytesMax) {
      assertOpen();
      const logs = await partitionsOf(topic);
      return logs[partition]!.log.createReader().read(from, Number.POSITIVE_INFINITY, bytesMax);
    },
    async oldestUnreadAt(topic, group) {
      const logs = (await partitionsOf(topic)).map(({ log }) => log);
      assertOpen();
      return oldestUnreadAt(logs, (log) => readCommit(topic, group, log.partition)?.offset ?? 0);
    },
    removeBefore: (topic, offsets) => owner.removeBefore(topic, offsets),
    openTable: tables.openTable,
    async ping() {
      assertOpen();
      await owner.ping();
    },
    async close() {
      if (closed) return;
      closed = true;
      await env.close();
    },
  };
}
