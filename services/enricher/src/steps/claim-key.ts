import { CLAIM_CONFIRMED_MS, type KeyHolder } from '@weir/ports/state-store';
import type { Draft, Step } from '../hit.ts';

/** Enough to tell logs apart: with a new log beside an old state store, offsets are given a second time. */
const LOG_ID_CHARS = 8;

export interface ClaimKey {
  /** What a record holds its idempotency key as; undefined where it has none. */
  holderOf(draft: Draft): KeyHolder | undefined;
  readonly claimKey: Step;
}

/**
 * A duplicate only of another record that holds the key and was received less than 24 h apart, by the records' own times
 * (design, Exactly once, 4).
 */
export function createClaimKey(logId: string): ClaimKey {
  const log = logId.slice(0, LOG_ID_CHARS);

  function holderOf(draft: Draft): KeyHolder | undefined {
    if (!draft.readable || draft.idempotencyKey === '') return undefined;
    const { siteId, idempotencyKey, partition, offset, receivedAt } = draft;
    return { siteId, key: idempotencyKey, holder: `${log}:${partition}:${offset}`, receivedAt };
  }

  return {
    holderOf,
    claimKey(hit, { heldBy }) {
      const own = holderOf(hit);
      if (own === undefined || heldBy === undefined || heldBy.holder === own.holder) return undefined;
      return Math.abs(own.receivedAt - heldBy.receivedAt) < CLAIM_CONFIRMED_MS ? { outcome: 'duplicate' } : undefined;
    },
  };
}
