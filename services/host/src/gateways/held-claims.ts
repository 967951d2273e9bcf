import { isDependencyError } from '@weir/domain/errors';
import type { ClaimStore, KeyClaim } from '@weir/ports/state-store';

/** The claims (docs/glossary.md) of one gateway process in the embedded state store. */
export interface HeldClaims extends ClaimStore {
  /**
   * Releases the pending claims of the process. Call it when the process has ended: clients can then repeat their requests before the claims
   * expire. The record of a released claim may be stored already. The enricher then drops the second record with the same key.
   */
  releaseAll(): Promise<void>;
}

export function createHeldClaims(stateStore: ClaimStore): HeldClaims {
  /** Pending claims by owner. */
  const held = new Map<string, KeyClaim>();
  let ended = false;

  async function releaseAll(): Promise<void> {
    ended = true;
    if (held.size === 0) return;
    const claims = [...held.values()];
    held.clear();
    try {
      await stateStore.releaseKeys(claims);
    } catch (error) {
      // If the state store is unavailable, the claims expire by themselves.
      if (!isDependencyError(error, 'state_store_unavailable')) throw error;
    }
  }

  return {
    async claimKeys(keys) {
      const outcomes = await stateStore.claimKeys(keys);
      keys.forEach((claim, nth) => {
        if (outcomes[nth] === 'claimed') held.set(claim.owner, claim);
      });
      if (ended) await releaseAll();
      return outcomes;
    },
    async confirmKeys(keys) {
      for (const { owner } of keys) held.delete(owner);
      await stateStore.confirmKeys(keys);
    },
    async releaseKeys(keys) {
      for (const { owner } of keys) held.delete(owner);
      await stateStore.releaseKeys(keys);
    },
    releaseAll,
  };
}
