import { createHash } from 'node:crypto';
import type { Fold, FoldChange, FoldPartition } from '@weir/ports/state-store';
import type { Database } from 'lmdb';
import { type ExpiringRows, encodeRow, liveText } from './lmdb-expiring-rows.ts';
import { committed, type GroupCommit } from './lmdb-group-commit.ts';

export interface Folds {
  read(partition: FoldPartition, keys: readonly string[]): Fold;
  write(partition: FoldPartition, appliedTo: number, changes: readonly FoldChange[]): Promise<void>;
}

/** LMDB's keys are short and hold no zero byte; longer ones stand as their digest. */
const KEY_CHARS_MAX = 400;

export function createFolds(
  rows: ExpiringRows,
  applied: Database<number, string>,
  commit: GroupCommit,
  clock: () => number,
): Folds {
  /** Offsets that are being written. */
  const applying = new Map<string, number>();

  return {
    read(partition, keys) {
      const id = partitionId(partition);
      const now = clock();
      return { appliedTo: applied.get(id) ?? 0, values: keys.map((key) => liveText(rows, rowKey(id, key), now)) };
    },

    async write(partition, appliedTo, changes) {
      const id = partitionId(partition);
      const underWay = applying.get(id);
      const repeated = (underWay ?? applied.get(id) ?? 0) >= appliedTo;
      if (repeated && underWay === undefined) return;
      if (!repeated) applying.set(id, appliedTo);
      const now = clock();
      try {
        await committed(commit, 'state_store_unavailable', () => {
          if (repeated) return;
          for (const { key, value, ttlMs } of changes) {
            if (value === undefined) void rows.remove(rowKey(id, key));
            else void rows.put(rowKey(id, key), encodeRow(now + ttlMs, value));
          }
          void applied.put(id, appliedTo);
        });
      } finally {
        if (applying.get(id) === appliedTo) applying.delete(id);
      }
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
