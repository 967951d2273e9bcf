import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { partitionOf } from '@weir/domain/records/partition-of';
import { TABLE_SALTS } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { AppendOutcome, AppendRecord, EventLog } from '@weir/ports/event-log';
import { syncFolder } from '@weir/runtime/disk/sync-folder';
import { openFileTable } from '../registry/file-table.ts';
import type { TableStore } from '../registry/table-store.ts';
import { type ConsumerGroup, createConsumerGroup } from './lmdb-consumer-group.ts';
import { encodeHeaders } from './lmdb-entry.ts';
import { openFileSpace } from './lmdb-file-space.ts';
import { openLogEnvironment, openLogTables } from './lmdb-log-environment.ts';
import { createLmdbTable, type TableRows } from './lmdb-log-table.ts';
import { oldestUnreadAt } from './lmdb-oldest-unread.ts';
import { createPartitionLog, type PartitionLog } from './lmdb-partition-log.ts';
import type { CommitStore } from './lmdb-partition-loop.ts';
import type { Entries } from './lmdb-partition-reads.ts';
import { removeEntriesBefore, startRetention } from './lmdb-retention.ts';
import { createWriteQueue, submitWrite } from './lmdb-write-queue.ts';
import { BUFFER_FULL, createLogForThread, type LogForThread } from './thread/lmdb-log-for-thread.ts';

export interface LmdbEventLogConfig {
  readonly folder: string;
  /** Number of partitions of a new log; an existing log keeps its number. */
  readonly partitions: number;
  readonly clock: () => number;
  /**
   * Records older than this are removed. A consumer that has not read them then finds a gap in the offsets. Exception: the log keeps the records
   * that the consumer group of `readerOf` has not read.
   */
  readonly retentionMs: (topic: string) => number;
  /**
   * Returns the consumer group that must read every record of the topic. Records that this group has not read are kept, even if they are older than
   * the retention. Otherwise acknowledged records would be lost if the machine was off for longer than the retention, or if an old backup was
   * restored. Earlier records that can have the same idempotency key as an unread record are kept too (`keptFrom` in ports/kept-from.ts).
   * Returns undefined for topics without such a group.
   */
  readonly readerOf?: (topic: string) => string | undefined;
  /**
   * The maximum number of bytes (of values) that wait to be written. Records above this limit are refused. Exception: if no record waits, a record of
   * any size is accepted. Default: 64 MiB.
   */
  readonly pendingBytesMax?: number;
  /** Appends are refused while `shortage()` returns a reason. */
  readonly disk?: DiskSpace | undefined;
}

export interface LmdbEventLog extends EventLog {
  /**
   * Copies the present content of the log, with its tables and commits but without the salts (docs/glossary.md), to `<folder>/data.mdb`. Appends
   * continue meanwhile. The folder must exist and be on the disk of the log. Rejects with `event_log_unavailable` if the copy would use a part of the
   * disk space that Weir keeps free (WEIR_DISK_RESERVE_MB).
   */
  copyTo(folder: string): Promise<void>;
  /** The time at which the oldest record that the group has not committed was appended; `Infinity` if there is none. */
  oldestUnreadAt(topic: string, group: string): Promise<number>;
  /** Carries out the writes of another thread, which reads the same files (lmdb-thread-log.ts), and notifies that thread of new records. */
  readonly forThread: LogForThread;
}

const PENDING_BYTES_MAX = 64 * 1024 * 1024;
const WRITE_STUCK_MS = 10_000;

/**
 * Opens the log. A process may call this only while it holds the lock of the data folder. Rejects with `event_log_damaged` if the end of the
 * file is missing.
 */
export async function openLmdbEventLog(config: LmdbEventLogConfig): Promise<LmdbEventLog> {
  const { clock } = config;
  const pendingBytesMax = config.pendingBytesMax ?? PENDING_BYTES_MAX;
  const env = await openLogEnvironment(config.folder);
  const { entries, ends, commits } = openLogTables(env);
  const rows: TableRows = env.openDB({ name: 'tables', encoding: 'string' });
  const meta = env.openDB<string | number, string>({ name: 'meta' });
  const fileSpace = await openFileSpace(join(config.folder, 'data.mdb'), env, config.disk);
  const writes = createWriteQueue(env, fileSpace, clock);

  if (meta.get('logId') === undefined) {
    await submitWrite(writes, 'event_log_unavailable', () => {
      void meta.put('logId', randomUUID());
      void meta.put('partitions', config.partitions);
    });
    await syncFolder(config.folder);
  }
  const logId = meta.get('logId') as string;
  const partitionCount = meta.get('partitions') as number;

  const topics = new Map<string, readonly PartitionLog[]>();
  const groups = new Map<string, ConsumerGroup>();
  const tables = new Map<string, TableStore>([
    [TABLE_SALTS, await openFileTable(join(config.folder, `${TABLE_SALTS}.json`))],
  ]);
  let pendingBytes = 0;
  let closed = false;

  function partitionsOf(topic: string): readonly PartitionLog[] {
    let logs = topics.get(topic);
    if (logs === undefined) {
      const deps = { entries, ends, writes, clock };
      logs = Array.from({ length: partitionCount }, (_, partition) => createPartitionLog(topic, partition, deps));
      topics.set(topic, logs);
    }
    return logs;
  }

  function commitStore(topic: string, group: string, partition: number): CommitStore {
    return {
      read: () => commits.get([group, topic, partition]),
      write: ({ offset, metadata }) =>
        submitWrite(writes, 'event_log_unavailable', () => {
          void commits.put([group, topic, partition], { offset, metadata });
        }),
    };
  }

  function assertOpen(): void {
    if (closed) throw new DependencyError('event_log_unavailable', 'the log is closed');
  }

  const refusal = (): string | undefined => (closed ? 'the log is closed' : config.disk?.shortage());

  /**
   * Counts bytes as unwritten until `release`. If other bytes are unwritten and the sum would exceed `pendingBytesMax`, counts nothing and returns
   * false.
   */
  function reserve(bytes: number): boolean {
    if (pendingBytes > 0 && pendingBytes + bytes > pendingBytesMax) return false;
    pendingBytes += bytes;
    return true;
  }

  function release(bytes: number): void {
    pendingBytes -= bytes;
  }

  async function append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    const refused = refusal();
    if (refused !== undefined) return records.map(() => ({ status: 'refused', reason: refused }));
    const logs = partitionsOf(topic);
    // Validates all records before it queues the first one: a call that throws must not store some of its records.
    const partitions = records.map((record) => {
      const partition = record.partition ?? partitionOf(record.key ?? '', partitionCount);
      if (logs[partition] !== undefined) return partition;
      throw new RangeError(`there is no partition ${partition}: the log has ${partitionCount}`);
    });
    const headers = records.map((record) => encodeHeaders(record.headers));
    return new Promise((resolve) => {
      const outcomes: AppendOutcome[] = new Array(records.length);
      const full = new Set<number>();
      let missing = records.length;
      if (missing === 0) resolve(outcomes);
      const settled = (outcome: AppendOutcome, nth: number): void => {
        outcomes[nth] = outcome;
        if (--missing === 0) resolve(outcomes);
      };
      // One function for all records: with one function per record, many functions would survive the next garbage collection and make it slower.
      const written = (outcome: AppendOutcome, nth: number): void => {
        release((records[nth] as AppendRecord).value.byteLength);
        settled(outcome, nth);
      };
      for (let nth = 0; nth < records.length; nth++) {
        const partition = partitions[nth] as number;
        const { value } = records[nth] as AppendRecord;
        if (full.has(partition) || !reserve(value.byteLength)) {
          full.add(partition);
          settled({ status: 'refused', reason: BUFFER_FULL }, nth);
          continue;
        }
        (logs[partition] as PartitionLog).append(value, headers[nth] as string, written, nth);
      }
    });
  }

  for (const { topic } of storedTopics(entries)) partitionsOf(topic);
  const retention = startRetention({
    logs: () => [...topics.values()].flat(),
    retentionMs: config.retentionMs,
    unreadFrom({ topic, partition }) {
      const reader = config.readerOf?.(topic);
      return reader === undefined ? Number.POSITIVE_INFINITY : (commits.get([reader, topic, partition])?.offset ?? 0);
    },
    writes,
    clock,
  });

  return {
    logId,
    partitionCount,
    append,
    async consume(options) {
      const id = `${options.group} ${options.topic}`;
      let group = groups.get(id);
      if (group === undefined) {
        group = createConsumerGroup(partitionsOf(options.topic), (partition) =>
          commitStore(options.topic, options.group, partition),
        );
        groups.set(id, group);
      }
      return group.join(options);
    },
    async positions(topic, group, asked) {
      const logs = partitionsOf(topic);
      return (asked?.map((partition) => logs[partition]!) ?? logs).map((log) => {
        const commit = commits.get([group, topic, log.partition]);
        return {
          partition: log.partition,
          first: log.first(),
          end: log.end(),
          committed: commit?.offset,
          metadata: commit?.metadata,
        };
      });
    },
    async offsetsAtTime(topic, timeMs) {
      return partitionsOf(topic).map((log) => log.offsetAtTime(timeMs));
    },
    async read(topic, partition, from, bytesMax) {
      assertOpen();
      return partitionsOf(topic)[partition]!.createReader().read(from, Number.POSITIVE_INFINITY, bytesMax);
    },
    async removeBefore(topic, offsets) {
      await Promise.all(partitionsOf(topic).map((log, nth) => removeEntriesBefore(log, offsets[nth] ?? 0, writes)));
    },
    async oldestUnreadAt(topic, group) {
      assertOpen();
      return oldestUnreadAt(partitionsOf(topic), (log) => commits.get([group, topic, log.partition])?.offset ?? 0);
    },
    async openTable(name) {
      let table = tables.get(name);
      if (table === undefined) {
        table = createLmdbTable(name, rows, writes);
        tables.set(name, table);
      }
      return table.open();
    },
    async ping() {
      assertOpen();
      const since = writes.underWaySince();
      if (since !== undefined && clock() - since > WRITE_STUCK_MS) {
        throw new DependencyError(
          'event_log_unavailable',
          `a write has not finished after ${clock() - since} ms: check the disk of the data folder`,
        );
      }
      // After a failed write, only another write shows whether writing works again.
      if (writes.lastFailure() !== undefined) {
        await submitWrite(writes, 'event_log_unavailable', () => void meta.put('pingedAt', clock()));
      }
    },
    forThread: createLogForThread({ logId, partitionCount, partitionsOf, commitStore, reserve, release, refusal }),
    async copyTo(folder) {
      await assertRoom(join(config.folder, 'data.mdb'), config.disk);
      await env.backup(folder, false);
    },
    async close() {
      if (closed) return;
      closed = true;
      retention.stop();
      await writes.idle();
      await fileSpace.close();
      await env.close();
    },
  };
}

async function assertRoom(data: string, disk: DiskSpace | undefined): Promise<void> {
  const [room, { size }] = [await disk?.room?.(), statSync(data)];
  if (room === undefined || size <= room) return;
  const mb = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  throw new DependencyError(
    'event_log_unavailable',
    `the disk of the data folder has too little free space for a copy of the event log: the copy needs ${mb(size)} MB, and ${mb(Math.max(0, room))} MB are free above the reserve (WEIR_DISK_RESERVE_MB). Free some space and try again`,
    { isFull: true },
  );
}

function* storedTopics(entries: Entries): Iterable<{ topic: string }> {
  let after = '';
  for (;;) {
    let topic: string | undefined;
    for (const key of entries.getKeys({ start: [after, Number.MAX_SAFE_INTEGER, 0], limit: 1 })) topic = key[0];
    if (topic === undefined) return;
    yield { topic };
    after = topic;
  }
}
