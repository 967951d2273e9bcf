import { isDependencyError } from '@weir/domain/errors';
import type { ClaimStore, KeyClaim } from '@weir/ports/state-store';

/** The claims of one gateway process in the embedded state store. */
export interface HeldClaims extends ClaimStore {
  /**
   * Call it when the process has ended: its pending claims are released, so that clients that send their requests again need not wait until the
   * claims expire. Some of the records may be stored. The enricher drops the second record of a key, as always.
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
      // The claims then expire by themselves.
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
