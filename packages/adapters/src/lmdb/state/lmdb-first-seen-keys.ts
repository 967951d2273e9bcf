import type { FirstSeenKey } from '@weir/ports/state-store';
import { submitWrite, type WriteQueue } from '../lmdb-write-queue.ts';
import { type ExpiringRows, encodeRow, readRow, rowText } from './lmdb-expiring-rows.ts';
import { siteKey } from './lmdb-key-claims.ts';

export interface FirstSeenKeys {
  insertFirstSeen(records: readonly FirstSeenKey[], windowMs: number): Promise<FirstSeenKey[]>;
  overwriteFirstSeen(records: readonly FirstSeenKey[], windowMs: number): Promise<void>;
}

/** Upper bound of a row: an idempotency key, and `RECORDS_PER_KEY_MAX` first-seen records (docs/glossary.md) of at most 64 bytes. */
const ROW_BYTES_MAX = 1024;

interface FirstSeen {
  readonly recordId: string;
  readonly receivedAt: number;
}

/**
 * The maximum number of first-seen records per idempotency key. A key has one first-seen record in each window of `windowMs`. Those of earlier
 * windows are kept because an old record can be processed again, and must get the same result as before.
 */
const RECORDS_PER_KEY_MAX = 8;

/**
 * Rows expire `keptMs` after they were written. The clock is used only for this expiry. Whether a record is a duplicate depends only on
 * the `receivedAt` of the records.
 */
export function createFirstSeenKeys(
  rows: ExpiringRows,
  writes: WriteQueue,
  clock: () => number,
  keptMs: number,
): FirstSeenKeys {
  /** For each idempotency key whose row is being written: the new list of its first-seen records. */
  const uncommitted = new Map<string, FirstSeen[]>();

  function firstSeenOf(id: string): FirstSeen[] {
    const decided = uncommitted.get(id);
    if (decided !== undefined) return decided;
    const row = readRow(rows, id);
    return row === undefined ? [] : decodeFirstSeen(rowText(row));
  }

  async function write(changed: ReadonlyMap<string, FirstSeen[]>): Promise<void> {
    try {
      await submitWrite(
        writes,
        'state_store_unavailable',
        () => {
          const expiresAt = clock() + keptMs;
          for (const [id, list] of changed) void rows.put(id, encodeRow(expiresAt, encodeFirstSeen(list)));
        },
        { size: { keys: changed.size, bytes: changed.size * ROW_BYTES_MAX } },
      );
    } finally {
      for (const [id, list] of changed) if (uncommitted.get(id) === list) uncommitted.delete(id);
    }
  }

  return {
    async insertFirstSeen(records, windowMs) {
      const changed = new Map<string, FirstSeen[]>();
      const answers = records.map((record) => {
        const id = siteKey(record);
        const present = firstSeenOf(id);
        const first = present.find(
          (other) => other.recordId === record.recordId || Math.abs(other.receivedAt - record.receivedAt) < windowMs,
        );
        if (first !== undefined) {
          const self = present.find((other) => other.recordId === record.recordId) ?? first;
          return { siteId: record.siteId, key: record.key, recordId: self.recordId, receivedAt: self.receivedAt };
        }
        const next = [...present, { recordId: record.recordId, receivedAt: record.receivedAt }].slice(
          -RECORDS_PER_KEY_MAX,
        );
        uncommitted.set(id, next);
        changed.set(id, next);
        return record;
      });
      // If this call changes nothing, its result can still depend on an insert of another call that is not committed yet. Therefore it also waits for
      // a write, which is then empty and ends after that insert.
      if (uncommitted.size > 0) await write(changed);
      return answers;
    },

    async overwriteFirstSeen(records, windowMs) {
      const changed = new Map<string, FirstSeen[]>();
      for (const record of records) {
        const id = siteKey(record);
        const { recordId, receivedAt } = record;
        const others = firstSeenOf(id).filter(
          (other) => other.recordId !== recordId && Math.abs(other.receivedAt - receivedAt) >= windowMs,
        );
        const next = [...others, { recordId, receivedAt }]
          .sort((a, b) => a.receivedAt - b.receivedAt)
          .slice(-RECORDS_PER_KEY_MAX);
        uncommitted.set(id, next);
        changed.set(id, next);
      }
      if (changed.size > 0) await write(changed);
    },
  };
}

function encodeFirstSeen(list: readonly FirstSeen[]): string {
  return list.map(({ recordId, receivedAt }) => `${recordId} ${receivedAt}`).join(' ');
}

function decodeFirstSeen(text: string): FirstSeen[] {
  const words = text.split(' ');
  const list: FirstSeen[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    list.push({ recordId: words[i] as string, receivedAt: Number(words[i + 1]) });
  }
  return list;
}
