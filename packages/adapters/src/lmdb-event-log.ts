import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { partitionOf } from '@weir/domain/partition-of';
import { TABLE_SALTS } from '@weir/domain/topics';
import type { AppendOutcome, AppendRecord, Commit, EventLog } from '@weir/ports/event-log';
import { open } from 'lmdb';
import { openFileTable } from './file-table.ts';
import { type ConsumerGroup, createConsumerGroup } from './lmdb-consumer-group.ts';
import { encodeHeaders } from './lmdb-entry.ts';
import { committed, createGroupCommit } from './lmdb-group-commit.ts';
import { createLmdbTable, type TableRows } from './lmdb-log-table.ts';
import { createPartitionLog, type Ends, type Entries, type PartitionLog } from './lmdb-partition-log.ts';
import type { CommitStore } from './lmdb-partition-loop.ts';
import { startRetention } from './lmdb-retention.ts';
import type { TableStore } from './table-store.ts';

export interface LmdbEventLogConfig {
  readonly folder: string;
  /** Of a log that is made now; an existing log keeps its own number. */
  readonly partitions: number;
  readonly clock: () => number;
  /** Records that were appended longer ago are removed, read or not: a consumer that lags behind finds a gap. */
  readonly retentionMs: (topic: string) => number;
  /** Values that wait to be written; more are refused. Default 64 MiB. */
  readonly pendingBytesMax?: number;
}

const PENDING_BYTES_MAX = 64 * 1024 * 1024;
const WRITE_STUCK_MS = 10_000;

/** One process at a time: whoever opens it holds the data folder's lock. */
export async function openLmdbEventLog(config: LmdbEventLogConfig): Promise<EventLog> {
  const { clock } = config;
  const pendingBytesMax = config.pendingBytesMax ?? PENDING_BYTES_MAX;
  const env = openEnvironment(config.folder);
  const entries: Entries = env.openDB({ name: 'entries', encoding: 'binary' });
  const ends: Ends = env.openDB({ name: 'ends' });
  const commits = env.openDB<Commit, [string, string, number]>({ name: 'commits' });
  const rows: TableRows = env.openDB({ name: 'tables', encoding: 'string' });
  const meta = env.openDB<string | number, string>({ name: 'meta' });
  const commit = createGroupCommit(env, clock);

  if (meta.get('logId') === undefined) {
    await committed(commit, 'event_log_unavailable', () => {
      void meta.put('logId', randomUUID());
      void meta.put('partitions', config.partitions);
    });
    syncFolder(config.folder);
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
      const deps = { entries, ends, commit, clock };
      logs = Array.from({ length: partitionCount }, (_, partition) => createPartitionLog(topic, partition, deps));
      topics.set(topic, logs);
    }
    return logs;
  }

  function commitStore(topic: string, group: string, partition: number): CommitStore {
    return {
      read: () => commits.get([group, topic, partition]),
      write: ({ offset, metadata }) =>
        committed(commit, 'event_log_unavailable', () => {
          void commits.put([group, topic, partition], { offset, metadata });
        }),
    };
  }

  async function append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    if (closed) return records.map(() => ({ status: 'refused', reason: 'the log is closed' }));
    const logs = partitionsOf(topic);
    // All checked before the first is queued: what throws must not leave some of a call in the log.
    const placed = records.map((record) => {
      const partition = record.partition ?? partitionOf(record.key ?? '', partitionCount);
      const log = logs[partition];
      if (log === undefined) throw new RangeError(`there is no partition ${partition}`);
      return { log, value: record.value, headers: encodeHeaders(record.headers) };
    });
    return new Promise((resolve) => {
      const outcomes: AppendOutcome[] = new Array(records.length);
      const full = new Set<PartitionLog>();
      let missing = records.length;
      if (missing === 0) resolve(outcomes);
      placed.forEach(({ log, value, headers }, i) => {
        const bytes = value.byteLength;
        const settled = (outcome: AppendOutcome): void => {
          outcomes[i] = outcome;
          if (--missing === 0) resolve(outcomes);
        };
        if (full.has(log) || (pendingBytes > 0 && pendingBytes + bytes > pendingBytesMax)) {
          full.add(log);
          settled({ status: 'refused', reason: 'too many bytes wait to be written' });
          return;
        }
        pendingBytes += bytes;
        log.append(value, headers, (outcome) => {
          pendingBytes -= bytes;
          settled(outcome);
        });
      });
    });
  }

  for (const { topic } of storedTopics(entries)) partitionsOf(topic);
  const retention = startRetention({
    logs: () => [...topics.values()].flat(),
    retentionMs: config.retentionMs,
    commit,
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
      return (asked?.map((partition) => logs[partition]!) ?? logs).map((log) => ({
        partition: log.partition,
        first: log.first(),
        end: log.end(),
        committed: commits.get([group, topic, log.partition])?.offset,
      }));
    },
    async offsetsAtTime(topic, timeMs) {
      return partitionsOf(topic).map((log) => log.offsetAtTime(timeMs));
    },
    async openTable(name) {
      let table = tables.get(name);
      if (table === undefined) {
        table = createLmdbTable(name, rows, commit);
        tables.set(name, table);
      }
      return table.open();
    },
    async ping() {
      if (closed) throw new DependencyError('event_log_unavailable', 'the log is closed');
      const since = commit.underWaySince();
      if (since !== undefined && clock() - since > WRITE_STUCK_MS) {
        throw new DependencyError('event_log_unavailable', `a write has been under way for ${clock() - since} ms`);
      }
      // After a failure only a write tells whether writing works again.
      if (commit.lastFailure() !== undefined) {
        await committed(commit, 'event_log_unavailable', () => void meta.put('pingedAt', clock()));
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      retention.stop();
      await commit.idle();
      await env.close();
    },
  };
}

function openEnvironment(folder: string) {
  try {
    mkdirSync(folder, { recursive: true });
    // Without overlapping sync a commit is fsynced before it is visible and before its promise resolves.
    // Without event turn batching no promise but that of `batch` is left to reject.
    return open({ path: folder, overlappingSync: false, eventTurnBatching: false, maxDbs: 8 });
  } catch (error) {
    throw new DependencyError('event_log_unavailable', `can't open the event log in ${folder}`, { cause: error });
  }
}

/** The new file's name lasts too. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
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
