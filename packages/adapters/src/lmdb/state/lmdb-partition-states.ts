import { hash } from 'node:crypto';
import type { OffsetRange, PartitionState, RawPartition, StateChange } from '@weir/ports/state-store';
import type { Database } from 'lmdb';
import type { WriteSize } from '../lmdb-file-space.ts';
import { submitWrite, type WriteQueue } from '../lmdb-write-queue.ts';
import { type ExpiringRows, encodeRow, liveText, readRow, removeRows } from './lmdb-expiring-rows.ts';

export interface PartitionStates {
  read(partition: RawPartition, keys: readonly string[]): PartitionState;
  write(partition: RawPartition, run: OffsetRange, changes: readonly StateChange[]): Promise<number>;
  remove(partition: RawPartition, keys: readonly string[]): Promise<void>;
}

/** LMDB limits the length of keys and forbids zero bytes. A key that is longer, or contains a zero byte, is replaced by its SHA-256. */
const KEY_CHARS_MAX = 400;

export function createPartitionStates(
  rows: ExpiringRows,
  applied: Database<number, string>,
  writes: WriteQueue,
  clock: () => number,
): PartitionStates {
  /** The applied offset (the raw offset up to which the state was applied) of each partition that has a write in the running transaction. */
  const applying = new Map<string, number>();

  return {
    read(partition, keys) {
      const id = partitionId(partition);
      const now = clock();
      return { appliedTo: readRow(applied, id) ?? 0, values: keys.map((key) => liveText(rows, rowKey(id, key), now)) };
    },

    async write(partition, { from, to }, changes) {
      const id = partitionId(partition);
      let storedAt = 0;
      try {
        const stage = (): void => {
          // Compares the offset here, within the transaction: all earlier transactions have ended, so the stored offset is up to date.
          storedAt = applying.get(id) ?? applied.get(id) ?? 0;
          if (storedAt < from || storedAt >= to) return;
          storedAt = to;
          applying.set(id, to);
          const now = clock();
          for (const { key, value, ttlMs } of changes) {
            if (value === undefined) void rows.remove(rowKey(id, key));
            else void rows.put(rowKey(id, key), encodeRow(now + ttlMs, value));
          }
          void applied.put(id, to);
        };
        await submitWrite(writes, 'state_store_unavailable', stage, { size: sizeOf(changes) });
      } finally {
        if (applying.get(id) === to) applying.delete(id);
      }
      return storedAt;
    },

    async remove(partition, keys) {
      const id = partitionId(partition);
      const rowKeys = keys.map((key) => rowKey(id, key));
      await removeRows(rowKeys, [rows], writes);
    },
  };
}

function partitionId({ logId, partition }: RawPartition): string {
  return `${logId}/${partition}`;
}

function rowKey(id: string, key: string): string {
  if (key.length <= KEY_CHARS_MAX && !key.includes('\0')) return `${id}=${key}`;
  return `${id}#${hash('sha256', key, 'hex')}`;
}

function sizeOf(changes: readonly StateChange[]): WriteSize {
  let bytes = 0;
  for (const { key, value = '' } of changes) bytes += 3 * (key.length + value.length) + 128;
  return { keys: changes.length + 1, bytes };
}
