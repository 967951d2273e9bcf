import type { AppendOutcome } from '@weir/ports/event-log';
import { ENTRY_BYTES_MAX, packEntry, recordBytes, writeRecord } from './lmdb-entry.ts';
import type { WriteSize } from './lmdb-file-space.ts';
import { createPartitionReads, type Ends, type Entries, type ReadableLog } from './lmdb-partition-reads.ts';
import type { WriteFailure, WriteQueue } from './lmdb-write-queue.ts';

export interface PartitionLog extends ReadableLog {
  /** When the oldest remaining record was appended; `Infinity` if there is none. */
  oldestAppendedAt(): number;
  /** Queues a record. When its transaction has ended, calls `done` with the outcome and with the given `nth`. */
  append(value: Uint8Array, headers: string, done: Done, nth: number): void;
  /** Queues the records of an encoded entry. Calls `done` with the outcome of its first record; all records of an entry have the same status. */
  appendEntry(entry: EncodedEntry, done: (outcome: AppendOutcome) => void): void;
  /**
   * Removes the oldest entries, up to `entriesMax`, while `isOld` is true. Returns the number of removed entries. Call it only within `stage` of
   * a write job (lmdb-write-queue.ts).
   */
  stageRemoval(isOld: IsOld, entriesMax: number): number;
}

/** Consecutive records of one partition, encoded as the value of an entry. */
export interface EncodedEntry {
  readonly count: number;
  readonly bytes: Uint8Array;
  /** The bytes of the values, before compression. */
  readonly valueBytes: number;
}

/**
 * Whether an entry must be removed. `appendedAt`: the time at which the entry was appended. `end`: one past its last offset. If an entry must
 * stay, all later entries of the partition stay too.
 */
export type IsOld = (appendedAt: number, end: number) => boolean;

type Done = (outcome: AppendOutcome, nth: number) => void;

interface Pending {
  readonly value: Uint8Array;
  readonly headers: string;
  /** Undefined if `value` is one record. Otherwise `value` is an entry with this number of records. */
  readonly count: number | undefined;
  readonly done: Done;
  readonly nth: number;
}

interface PartitionLogDeps {
  readonly entries: Entries;
  readonly ends: Ends;
  readonly writes: WriteQueue;
  readonly clock: () => number;
}

export function createPartitionLog(topic: string, partition: number, deps: PartitionLogDeps): PartitionLog {
  const { entries, ends, writes, clock } = deps;
  const reads = createPartitionReads(topic, partition, deps);
  const { waiting } = reads;
  let pending: Pending[] = [];
  let lastAppendedAt = reads.recover();

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
        stageAll(staged, reads.end(), lastAppendedAt);
      },
      settle(failure) {
        const records = staged ?? take();
        if (failure !== undefined) return refuse(records, failure);
        let offset = reads.end();
        reads.advance(offset + countOf(records));
        for (const record of records) {
          record.done({ status: 'stored', partition, offset }, record.nth);
          offset += record.count ?? 1;
        }
        waiting.wake();
      },
    });
  }

  function refuse(records: readonly Pending[], failure: WriteFailure): void {
    if (!failure.known) recoverIfReadable();
    const outcome: AppendOutcome = { status: failure.known ? 'refused' : 'unknown', reason: failure.reason };
    for (const { done, nth } of records) done(outcome, nth);
  }

  /**
   * Reads the end of the partition again. This fails after a failed write of LMDB's meta page, because LMDB then refuses reads too. The old end then
   * remains in use. This is safe, because the write queue writes no further appends.
   */
  function recoverIfReadable(): void {
    try {
      lastAppendedAt = reads.recover();
    } catch {
      return;
    }
    waiting.wake();
  }

  /** Stages the encoded entries unchanged. Encodes the single records between them as further entries. */
  function stageAll(all: readonly Pending[], firstOffset: number, appendedAt: number): void {
    const put = (offset: number, count: number, entry: Buffer): number => {
      void entries.put([topic, partition, offset, count, appendedAt], entry);
      return offset + count;
    };
    let offset = firstOffset;
    let from = 0;
    while (from < all.length) {
      const { count, value } = all[from] as Pending;
      if (count !== undefined) {
        offset = put(offset, count, Buffer.from(value.buffer, value.byteOffset, value.byteLength));
        from += 1;
        continue;
      }
      const to = endOfEntry(all, from);
      offset = put(offset, to - from, encodeRecords(all, from, to));
      from = to;
    }
  }

  function add(record: Pending): void {
    pending.push(record);
    if (pending.length === 1) submit();
  }

  return {
    ...reads.log,
    oldestAppendedAt: reads.oldestAppendedAt,
    append: (value, headers, done, nth) => add({ value, headers, count: undefined, done, nth }),
    appendEntry: ({ count, bytes }, done) => add({ value: bytes, headers: '', count, done, nth: 0 }),
    stageRemoval(isOld, entriesMax) {
      let removed = 0;
      for (const key of reads.keysFrom(0, entriesMax)) {
        if (!isOld(key[4], key[2] + key[3])) break;
        void entries.remove(key);
        removed += 1;
      }
      if (removed > 0) void ends.put([topic, partition], reads.end());
      return removed;
    },
  };
}

interface RecordText {
  readonly value: Uint8Array;
  readonly headers: string;
  readonly count?: number | undefined;
}

/** Encodes records as entries, as many records in each entry as fit. Each entry has its own ArrayBuffer, which a thread can transfer to another. */
export function encodeEntries(records: readonly RecordText[]): readonly EncodedEntry[] {
  const encoded: EncodedEntry[] = [];
  for (let from = 0; from < records.length; ) {
    const to = endOfEntry(records, from);
    let valueBytes = 0;
    for (let i = from; i < to; i++) valueBytes += (records[i] as RecordText).value.byteLength;
    encoded.push({ count: to - from, bytes: encodeRecords(records, from, to), valueBytes });
    from = to;
  }
  return encoded;
}

/** Returns the index after the last record that fits into an entry which begins with the record `from`. */
function endOfEntry(records: readonly RecordText[], from: number): number {
  let to = from;
  let bytes = 0;
  let next = records[to];
  do {
    const record = next as RecordText;
    bytes += recordBytes(record.value, record.headers);
    to += 1;
    next = records[to];
  } while (next !== undefined && next.count === undefined && bytes + next.value.byteLength <= ENTRY_BYTES_MAX);
  return to;
}

function encodeRecords(records: readonly RecordText[], from: number, to: number): Buffer {
  let bytes = 0;
  for (let i = from; i < to; i++) {
    const { value, headers } = records[i] as RecordText;
    bytes += recordBytes(value, headers);
  }
  const entry = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (let i = from; i < to; i++) {
    const { value, headers } = records[i] as RecordText;
    at = writeRecord(entry, at, value, headers);
  }
  return packEntry(entry);
}

function countOf(all: readonly Pending[]): number {
  let count = 0;
  for (const record of all) count += record.count ?? 1;
  return count;
}

/**
 * Upper bound of what `stageAll` writes. It encodes consecutive single records as entries. Two of these entries in a row have together more than
 * `ENTRY_BYTES_MAX` bytes. So there are at most 2 * bytes / `ENTRY_BYTES_MAX` of them, rounded up.
 */
function sizeOf(all: readonly Pending[]): WriteSize {
  let bytes = 0;
  let records = 0;
  let keys = 2;
  for (const { value, headers, count } of all) {
    bytes += recordBytes(value, headers);
    // Single records before an encoded entry and after it cannot be in one entry. So an encoded entry can add two keys: its own, and one for the
    // single records after it.
    if (count !== undefined) keys += 2;
    else records += 1;
  }
  return { keys: keys + Math.min(records, Math.ceil((2 * bytes) / ENTRY_BYTES_MAX)), bytes };
}
