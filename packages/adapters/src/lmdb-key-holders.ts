import type { KeyHolder } from '@weir/ports/state-store';
import { type ExpiringRows, encodeRow, rowText } from './lmdb-expiring-rows.ts';
import { committed, type GroupCommit } from './lmdb-group-commit.ts';
import { siteKey } from './lmdb-key-claims.ts';

export interface KeyHolders {
  holdFirst(holders: readonly KeyHolder[], windowMs: number): Promise<KeyHolder[]>;
  dropHolders(holders: readonly KeyHolder[]): Promise<void>;
}

interface Held {
  readonly holder: string;
  readonly receivedAt: number;
}

/** Holders of one key whose windows don't overlap; the older ones are kept so that repeating old records gives old answers. */
const HELD_MAX = 8;

/**
 * Rows are removed by the clock, `keptMs` after they were written, and never judged by it: whether a record is a duplicate
 * depends on the records' own times alone.
 */
export function createKeyHolders(
  rows: ExpiringRows,
  commit: GroupCommit,
  clock: () => number,
  keptMs: number,
): KeyHolders {
  /** What was decided but is not yet committed. */
  const deciding = new Map<string, Held[]>();

  function held(id: string): Held[] {
    const decided = deciding.get(id);
    if (decided !== undefined) return decided;
    const row = rows.get(id);
    return row === undefined ? [] : decodeHeld(rowText(row));
  }

  async function write(changed: ReadonlyMap<string, Held[]>): Promise<void> {
    try {
      await committed(commit, 'state_store_unavailable', () => {
        const expiresAt = clock() + keptMs;
        for (const [id, list] of changed) void rows.put(id, encodeRow(expiresAt, encodeHeld(list)));
      });
    } finally {
      for (const [id, list] of changed) if (deciding.get(id) === list) deciding.delete(id);
    }
  }

  return {
    async holdFirst(holders, windowMs) {
      const changed = new Map<string, Held[]>();
      const answers = holders.map((record) => {
        const id = siteKey(record);
        const present = held(id);
        const first = present.find(
          (other) => other.holder === record.holder || Math.abs(other.receivedAt - record.receivedAt) < windowMs,
        );
        if (first !== undefined) {
          const self = present.find((other) => other.holder === record.holder) ?? first;
          return { siteId: record.siteId, key: record.key, holder: self.holder, receivedAt: self.receivedAt };
        }
        const next = [...present, { holder: record.holder, receivedAt: record.receivedAt }].slice(-HELD_MAX);
        deciding.set(id, next);
        changed.set(id, next);
        return record;
      });
      // Also without a change: an answer may rest on a decision of another call that is still being written.
      if (deciding.size > 0) await write(changed);
      return answers;
    },

    async dropHolders(holders) {
      const changed = new Map<string, Held[]>();
      for (const record of holders) {
        const id = siteKey(record);
        const rest = held(id).filter(({ holder }) => holder !== record.holder);
        deciding.set(id, rest);
        changed.set(id, rest);
      }
      if (changed.size > 0) await write(changed);
    },
  };
}

function encodeHeld(list: readonly Held[]): string {
  return list.map(({ holder, receivedAt }) => `${holder} ${receivedAt}`).join(' ');
}

function decodeHeld(text: string): Held[] {
  const words = text.split(' ');
  const list: Held[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    list.push({ holder: words[i] as string, receivedAt: Number(words[i + 1]) });
  }
  return list;
}
