import { DependencyError } from '@weir/domain/errors';
import { CLAIM_PENDING_MS, type ClaimOutcome, IDEMPOTENCY_WINDOW_MS, type KeyClaim } from '@weir/ports/state-store';
import { submitWrite, type WriteQueue } from '../lmdb-write-queue.ts';
import { type ExpiringRows, encodeRow, liveText, removeRows } from './lmdb-expiring-rows.ts';

export interface KeyClaims {
  claim(keys: readonly KeyClaim[]): ClaimOutcome[];
  confirm(keys: readonly KeyClaim[]): Promise<void>;
  release(keys: readonly KeyClaim[]): void;
}

interface Pending {
  readonly owner: string;
  /** When the claim expires, in Unix milliseconds; `Infinity` while `confirm` writes its row. */
  until: number;
}

/** Upper bound of a row: a site ID, an idempotency key and a time. */
const ROW_BYTES_MAX = 512;

/** The row key of an idempotency key. It is unambiguous, because idempotency keys contain no slash. */
export function siteKey(item: { readonly siteId: string; readonly key: string }): string {
  return `${item.siteId}/${item.key}`;
}

const REMOVED_AT_ONCE_MAX = 1_000;

/** Removes the rows of all idempotency keys of a site. Rows that are added while this runs can stay. */
export async function removeSiteRows(siteId: string, rows: ExpiringRows, writes: WriteQueue): Promise<void> {
  // The character `0` follows the slash in ASCII, so this range contains exactly the keys that begin with `<site>/`.
  for (let start = `${siteId}/`; ; ) {
    const keys = [...rows.getKeys({ start, end: `${siteId}0`, limit: REMOVED_AT_ONCE_MAX })];
    const last = keys.at(-1);
    if (last === undefined) return;
    await removeRows(keys, [rows], writes);
    start = last;
  }
}

/**
 * Pending claims (docs/glossary.md, "claim") are only in memory. When the process ends, they can be lost without harm, because their requests
 * end too.
 */
export function createKeyClaims(
  rows: ExpiringRows,
  writes: WriteQueue,
  clock: () => number,
  pendingClaimsMax: number,
): KeyClaims {
  const pending = new Map<string, Pending>();

  function holder(id: string, now: number): Pending | undefined {
    const held = pending.get(id);
    return held !== undefined && held.until > now ? held : undefined;
  }

  /**
   * All claims have the same duration, so they expire in the order of the map. A claim that `confirm` is writing does not expire and stops this
   * loop. The expired claims after it are removed by a later call.
   */
  function forgetExpired(now: number): void {
    for (const [id, held] of pending) {
      if (held.until > now) break;
      pending.delete(id);
    }
  }

  return {
    claim(keys) {
      const now = clock();
      forgetExpired(now);
      if (pending.size + keys.length > pendingClaimsMax) {
        throw new DependencyError('state_store_unavailable', `more than ${pendingClaimsMax} claims are pending`);
      }
      return keys.map((item) => {
        const id = siteKey(item);
        const held = holder(id, now);
        if (held !== undefined) return held.owner === item.owner ? 'claimed' : 'pending';
        if (liveText(rows, id, now) !== undefined) return 'confirmed';
        pending.delete(id);
        pending.set(id, { owner: item.owner, until: now + CLAIM_PENDING_MS });
        return 'claimed';
      });
    },

    async confirm(keys) {
      const now = clock();
      const row = encodeRow(now + IDEMPOTENCY_WINDOW_MS, '');
      const confirming = new Map<string, Pending>();
      for (const item of keys) {
        const id = siteKey(item);
        let held = holder(id, now);
        if (held !== undefined ? held.owner !== item.owner : liveText(rows, id, now) !== undefined) continue;
        if (held === undefined) {
          held = { owner: item.owner, until: 0 };
          pending.set(id, held);
        }
        held.until = Number.POSITIVE_INFINITY;
        confirming.set(id, held);
      }
      if (confirming.size === 0) return;
      try {
        await submitWrite(
          writes,
          'state_store_unavailable',
          () => {
            for (const id of confirming.keys()) void rows.put(id, row);
          },
          { size: { keys: confirming.size, bytes: confirming.size * ROW_BYTES_MAX } },
        );
      } finally {
        for (const [id, held] of confirming) if (pending.get(id) === held) pending.delete(id);
      }
    },

    release(keys) {
      for (const item of keys) {
        const id = siteKey(item);
        const held = pending.get(id);
        if (held?.owner === item.owner && held.until !== Number.POSITIVE_INFINITY) pending.delete(id);
      }
    },
  };
}
