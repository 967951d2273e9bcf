import { CLAIM_CONFIRMED_MS, type KeyHolder } from '@weir/ports/state-store';
import type { FinishContext } from '../enrichment.ts';
import type { Ending, Hit } from '../hit.ts';

/** What a hit's record holds its idempotency key as; undefined where it has none. */
export function keyHolderOf(hit: Hit): KeyHolder | undefined {
  if (hit.idempotencyKey === '') return undefined;
  return {
    siteId: hit.siteId,
    key: hit.idempotencyKey,
    holder: `${hit.partition}:${hit.offset}`,
    receivedAt: hit.receivedAt,
  };
}

/**
 * A duplicate only of another record that holds the key and was received less than 24 h apart, by the records' own times
 * (design, Exactly once, 4).
 */
export function claimKey(hit: Hit, { heldBy }: FinishContext): Ending | undefined {
  const own = keyHolderOf(hit);
  if (own === undefined || heldBy === undefined || heldBy.holder === own.holder) return undefined;
  return Math.abs(own.receivedAt - heldBy.receivedAt) < CLAIM_CONFIRMED_MS ? { outcome: 'duplicate' } : undefined;
}
