import type { AppendOutcome, StoredRecord } from '@weir/ports/event-log';
import type { Database } from 'lmdb';
import {
  ENTRY_BYTES_MAX,
  type EntryKey,
  EntryReader,
  HIGHEST_OFFSET,
  packEntry,
  recordBytes,
  writeRecord,
} from './lmdb-entry.ts';
import type { WriteSize } from './lmdb-file-space.ts';
import type { WriteFailure, WriteQueue } from './lmdb-write-queue.ts';

export type Entries = Database<Buffer, EntryKey | [string, number, number]>;
/** The end offset of each partition. It is stored separately, because retention can remove the newest entry of a partition. */
export type Ends = Database<number, [topic: string, partition: number]>;

export interface PartitionLog {
  readonly topic: string;
  readonly partition: number;
  /** One past the highest durable offset. */
  end(): number;
  /** The lowest offset that retention has not removed; `end()` if there is no record. */
  first(): number;
  /** When the oldest remaining record was appended; `Infinity` if there is none. */
  oldestAppendedAt(): number;
  /** Queues a record. Calls `done` with its outcome when the transaction has settled. */
  append(value: Uint8Array, headers: string, done: (outcome: AppendOutcome) => void): void;
  /** The lowest offset whose record was appended at or after `timeMs`; `end()` if there is none. */
  offsetAtTime(timeMs: number): number;
  /** Calls `wake` once, as soon as a record at or after `offset` is durable. Returns a function that cancels the call. */
  onAvailable(offset: number, wake: () => void): () => void;
  createReader(): PartitionReader;
  /** Call it within `stage` of a write job. Removes up to `entriesMax` entries for which `isOld` is true. Returns how many were removed. */
  stageRemoval(isOld: IsOld, entriesMax: number): number;
}

/**
 * Whether an entry must be removed. `appendedAt`: the time at which it was appended. `end`: one past its last offset. All entries before it
 * are removed too.
 */
export type IsOld = (appendedAt: number, end: number) => boolean;

export interface PartitionReader {
  /** Reads records from offset `from` on, or from the oldest remaining record on if retention has removed the record at `from`. */
  read(from: number, recordsMax: number, bytesMax: number): StoredRecord[];
}

interface Pending {
  readonly value: Uint8Array;
  readonly headers: string;
  readonly done: (outcome: AppendOutcome) => void;
}

interface PartitionLogDeps {
  readonly entries: Entries;
  readonly ends: Ends;
  readonly writes: WriteQueue;
  readonly clock: () => number;
}

export function createPartitionLog(topic: string, partition: number, deps: PartitionLogDeps): PartitionLog {
  const { entries, ends, writes, clock } = deps;
  let pending: Pending[] = [];
  const waiting = new Map<() => void, number>();
  let { end, lastAppendedAt } = recover();

  function recover(): { end: number; lastAppendedAt: number } {
    const last = lastKey(HIGHEST_OFFSET);
    const kept = ends.get([topic, partition]) ?? 0;
    return last === undefined
      ? { end: kept, lastAppendedAt: 0 }
      : { end: Math.max(kept, last[2] + last[3]), lastAppendedAt: last[4] };
  }

  /** The key of the last entry that begins at or before `offset`. */
  function lastKey(offset: number): EntryKey | undefined {
    const range = entries.getKeys({
      start: [topic, partition, offset, HIGHEST_OFFSET, 0] as EntryKey,
      end: [topic, partition, -1],
      reverse: true,
      limit: 1,
    });
    for (const key of range) return key as EntryKey;
    return undefined;
  }

  function keysFrom(offset: number, limit: number): Iterable<EntryKey> {
    return entries.getKeys({
      start: [topic, partition, offset],
      end: [topic, partition, HIGHEST_OFFSET],
      limit,
    }) as Iterable<EntryKey>;
  }

  function first(): number {
    for (const key of keysFrom(0, 1)) return key[2];
    return end;
  }

  function submit(): void {
    let staged: Pending[] | undefined;
    const take = (): Pending[] => {
      const taken = pending;
      pending = [];
      return taken;
    };
    writes.submit({
      isBulk: true,
      size: () => sizeOf(pending),
      stage() {
        staged = take();
        // `offsetAtTime` uses binary search, so times must not decrease within a partition.
        lastAppendedAt = Math.max(lastAppendedAt, clock());
        stageEntries(staged, end, lastAppendedAt);
      },
      settle(failure) {
        const records = staged ?? take();
        if (failure !== undefined) return refuse(records, failure);
        const from = end;
        end += records.length;
        records.forEach((record, i) => {
          record.done({ status: 'stored', partition, offset: from + i });
        });
        wakeWaiting();
      },
    });
  }

  function wakeWaiting(): void {
    for (const [wake, offset] of waiting) {
      if (offset < end && waiting.delete(wake)) wake();
    }
  }

  function refuse(records: readonly Pending[], failure: WriteFailure): void {
    if (!failure.known) {
      ({ end, lastAppendedAt } = recover());
      wakeWaiting();
    }
    const outcome: AppendOutcome = { status: failure.known ? 'refused' : 'unknown', reason: failure.reason };
    for (const record of records) record.done(outcome);
  }

  function stageEntries(records: readonly Pending[], firstOffset: number, appendedAt: number): void {
    let from = 0;
    while (from < records.length) {
      let to = from;
      let bytes = 0;
      do {
        const record = records[to] as Pending;
        bytes += recordBytes(record.value, record.headers);
        to += 1;
      } while (to < records.length && bytes + (records[to] as Pending).value.byteLength <= ENTRY_BYTES_MAX);
      const entry = Buffer.allocUnsafe(bytes);
      let at = 0;
      for (let i = from; i < to; i++) {
        const record = records[i] as Pending;
        at = writeRecord(entry, at, record.value, record.headers);
      }
      void entries.put([topic, partition, firstOffset + from, to - from, appendedAt], packEntry(entry));
      from = to;
    }
  }

  function createReader(): PartitionReader {
    let current: EntryReader | undefined;

    function openAt(from: number): EntryReader | undefined {
      const holding = lastKey(from);
      const key = holding !== undefined && holding[2] + holding[3] > from ? holding : firstKeyFrom(from);
      const entry = key && entries.get(key);
      if (key === undefined || entry === undefined) return undefined;
      const reader = new EntryReader(key, entry);
      reader.skipTo(from);
      return reader;
    }

    function firstKeyFrom(offset: number): EntryKey | undefined {
      for (const key of keysFrom(offset, 1)) return key;
      return undefined;
    }

    return {
      read(from, recordsMax, bytesMax) {
        const records: StoredRecord[] = [];
        let bytes = 0;
        /** Reads records of an entry. Returns false if a limit is reached. Returns true if the entry ends first. */
        const take = (reader: EntryReader): boolean => {
          while (!reader.done) {
            bytes += reader.nextValueBytes;
            if (records.length > 0 && (records.length >= recordsMax || bytes > bytesMax)) return false;
            records.push(reader.next());
          }
          return records.length < recordsMax;
        };
        if (current?.nextOffset !== from) current = openAt(from);
        if (current === undefined || !take(current)) return records;
        const following = entries.getRange({
          start: [topic, partition, current.nextOffset],
          end: [topic, partition, HIGHEST_OFFSET],
        });
        for (const { key, value } of following) {
          current = new EntryReader(key as EntryKey, value);
          if (!take(current)) break;
        }
        return records;
      },
    };
  }

  return {
    topic,
    partition,
    end: () => end,
    first,
    oldestAppendedAt() {
      for (const key of keysFrom(0, 1)) return key[4];
      return Number.POSITIVE_INFINITY;
    },
    append(value, headers, done) {
      pending.push({ value, headers, done });
      if (pending.length === 1) submit();
    },
    offsetAtTime(timeMs) {
      let low = first();
      let high = end;
      while (low < high) {
        const key = lastKey(Math.floor((low + high) / 2));
        if (key === undefined) break;
        if (key[4] >= timeMs) high = key[2];
        else low = key[2] + key[3];
      }
      return low;
    },
    onAvailable(offset, wake) {
      if (offset < end) {
        wake();
        return () => {};
      }
      waiting.set(wake, offset);
      return () => waiting.delete(wake);
    },
    createReader,
    stageRemoval(isOld, entriesMax) {
      let removed = 0;
      for (const key of keysFrom(0, entriesMax)) {
        if (!isOld(key[4], key[2] + key[3])) break;
        void entries.remove(key);
        removed += 1;
      }
      if (removed > 0) void ends.put([topic, partition], end);
      return removed;
    },
  };
}

/** Upper bound of the size of records in entries. An entry can be only half full, because the next record did not fit into it. */
function sizeOf(records: readonly Pending[]): WriteSize {
  let bytes = 0;
  for (const { value, headers } of records) bytes += recordBytes(value, headers);
  return { keys: 2 + Math.min(records.length, Math.ceil((2 * bytes) / ENTRY_BYTES_MAX)), bytes };
}
