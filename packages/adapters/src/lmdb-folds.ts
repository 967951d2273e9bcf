import { createHash } from 'node:crypto';
import type { Fold, FoldChange, FoldPartition, FoldRun } from '@weir/ports/state-store';
import type { Database } from 'lmdb';
import { type ExpiringRows, encodeRow, liveText } from './lmdb-expiring-rows.ts';
import { committed, type GroupCommit } from './lmdb-group-commit.ts';

export interface Folds {
  read(partition: FoldPartition, keys: readonly string[]): Fold;
  write(partition: FoldPartition, run: FoldRun, changes: readonly FoldChange[]): Promise<number>;
}

/** LMDB's keys are short and hold no zero byte; longer ones stand as their digest. */
const KEY_CHARS_MAX = 400;

export function createFolds(
  rows: ExpiringRows,
  applied: Database<number, string>,
  commit: GroupCommit,
  clock: () => number,
): Folds {
  /** Offsets of the transaction that is being written. */
  const applying = new Map<string, number>();

  return {
    read(partition, keys) {
      const id = partitionId(partition);
      const now = clock();
      return { appliedTo: applied.get(id) ?? 0, values: keys.map((key) => liveText(rows, rowKey(id, key), now)) };
    },

    async write(partition, { from, to }, changes) {
      const id = partitionId(partition);
      let storedAt = 0;
      try {
        await committed(commit, 'state_store_unavailable', () => {
          // Within the transaction: no other one is under way, so nothing that is decided here can still fail before it.
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
        });
      } finally {
        if (applying.get(id) === to) applying.delete(id);
      }
      return storedAt;
    },
  };
}

function partitionId({ logId, partition }: FoldPartition): string {
  return `${logId}/${partition}`;
}

function rowKey(id: string, key: string): string {
  if (key.length <= KEY_CHARS_MAX && !key.includes('\0')) return `${id}=${key}`;
  return `${id}#${createHash('sha256').update(key).digest('hex')}`;
}
