import type { StoredRecord } from '@weir/ports/event-log';
import type { Database } from 'lmdb';
import { type EntryKey, EntryReader, HIGHEST_OFFSET } from './lmdb-entry.ts';

export type Entries = Database<Buffer, EntryKey | [string, number, number]>;
/** The end offset of each partition. Retention can remove all entries of a partition, and then the keys of the entries do not show its end. */
export type Ends = Database<number, [topic: string, partition: number]>;

export interface ReadableLog {
  readonly topic: string;
  readonly partition: number;
  /** One past the highest durable offset. */
  end(): number;
  /** The lowest offset that retention has not removed; `end()` if there is no record. */
  first(): number;
  /** The lowest offset whose record was appended at or after `timeMs`; `end()` if there is none. */
  offsetAtTime(timeMs: number): number;
  /** The time at which the first remaining record at or after `offset` was appended; `Infinity` if there is none. */
  appendedAt(offset: number): number;
  /** Calls `wake` once, as soon as a record at or after `offset` is durable. The returned function cancels this request. */
  onAvailable(offset: number, wake: () => void): () => void;
  createReader(): PartitionReader;
}

export interface PartitionReader {
  /** Reads records from offset `from` on, or from the oldest remaining record on if retention has removed the record at `from`. */
  read(from: number, recordsMax: number, bytesMax: number): StoredRecord[];
}

export interface PartitionReads {
  readonly log: ReadableLog;
  end(): number;
  advance(end: number): void;
  /**
   * Sets `end()` to the end that is stored in the file. Returns the time at which the last record was appended; 0 if there is no record. If
   * reading throws, `end()` does not change.
   */
  recover(): number;
  oldestAppendedAt(): number;
  keysFrom(offset: number, limit: number): Iterable<EntryKey>;
  readonly waiting: { wake(): void };
}

export interface PartitionReadsDeps {
  readonly entries: Entries;
  readonly ends: Ends;
  /** Called before each read. In a thread that does not write, it must begin a new read transaction, to see what the writing thread has committed. */
  readonly beforeRead?: () => void;
}

/** Reads one partition. Its readers never return records at or after `end()`. */
export function createPartitionReads(topic: string, partition: number, deps: PartitionReadsDeps): PartitionReads {
  const { entries, ends, beforeRead = () => {} } = deps;
  const waiting = new Map<() => void, number>();
  let end = 0;

  function recover(): number {
    beforeRead();
    const last = lastKey(HIGHEST_OFFSET);
    const kept = ends.get([topic, partition]) ?? 0;
    end = last === undefined ? kept : Math.max(kept, last[2] + last[3]);
    return last === undefined ? 0 : last[4];
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

  /** The key of the entry with the first remaining record at or after `offset`. */
  function keyAt(offset: number): EntryKey | undefined {
    const holding = lastKey(offset);
    if (holding !== undefined && holding[2] + holding[3] > offset) return holding;
    for (const key of keysFrom(offset, 1)) return key;
    return undefined;
  }

  function first(): number {
    beforeRead();
    for (const key of keysFrom(0, 1)) return Math.min(key[2], end);
    return end;
  }

  function createReader(): PartitionReader {
    let current: EntryReader | undefined;

    function openAt(from: number): EntryReader | undefined {
      const key = keyAt(from);
      const entry = key && entries.get(key);
      if (key === undefined || entry === undefined) return undefined;
      const reader = new EntryReader(key, entry);
      reader.skipTo(from);
      return reader;
    }

    return {
      read(from, recordsMax, bytesMax) {
        beforeRead();
        const records: StoredRecord[] = [];
        let bytes = 0;
        /** Adds records of an entry to `records`. Returns true if the following entry can be read too. */
        const take = (reader: EntryReader): boolean => {
          while (!reader.done) {
            if (reader.nextOffset >= end) return false;
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
          try {
            current = new EntryReader(key as EntryKey, value);
          } catch (error) {
            // First returns the records before the damaged entry. The next call begins with the damaged entry, and throws.
            if (records.length > 0) break;
            throw error;
          }
          if (!take(current)) break;
        }
        return records;
      },
    };
  }

  const log: ReadableLog = {
    topic,
    partition,
    end: () => end,
    first,
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
    appendedAt(offset) {
      if (offset >= end) return Number.POSITIVE_INFINITY;
      beforeRead();
      return keyAt(offset)?.[4] ?? Number.POSITIVE_INFINITY;
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
  };

  return {
    log,
    end: () => end,
    advance(to) {
      end = to;
    },
    recover,
    oldestAppendedAt() {
      for (const key of keysFrom(0, 1)) return key[4];
      return Number.POSITIVE_INFINITY;
    },
    keysFrom,
    waiting: {
      wake() {
        for (const [wake, offset] of waiting) {
          if (offset < end && waiting.delete(wake)) wake();
        }
      },
    },
  };
}
