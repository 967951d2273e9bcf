import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { ClaimOutcome, ClaimStore, KeyClaim } from '@weir/ports/state-store';
import type { GatewayMetrics } from '../gateway-metrics.ts';

/**
 * Claims idempotency keys. While the state store is not available, every key counts as free. This is safe, because a claim only
 * decides between the answers 202 and 200: the enricher later drops duplicates (docs/api.md, POST /api/v1/events).
 */
export interface KeyClaims {
  claim(keys: readonly KeyClaim[]): Promise<readonly ClaimOutcome[]>;
  /**
   * Confirms claims after their records were stored. Waits `CONFIRM_LINGER_MS`, and then confirms the claims of all calls of `confirm` since the
   * start of the wait with one call of the state store. Until the promise resolves, the caller must itself remember that these keys are used.
   */
  confirm(keys: readonly KeyClaim[]): Promise<void>;
  /** Gives up claims whose records are not stored, or perhaps not stored, so that a retry can claim the keys. */
  release(keys: readonly KeyClaim[]): Promise<void>;
}

const CONFIRM_LINGER_MS = 20;

export function createKeyClaims(stateStore: ClaimStore, metrics: GatewayMetrics): KeyClaims {
  let confirming: KeyClaim[] = [];
  let confirmed: Promise<void> | undefined;

  const orElse = async <T>(call: 'claim' | 'confirm' | 'release', answer: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (!isDependencyError(error, 'state_store_unavailable')) throw error;
      metrics.stateStoreFailed(call);
      return otherwise;
    }
  };
  return {
    claim: (keys) =>
      orElse(
        'claim',
        stateStore.claimKeys(keys),
        keys.map(() => 'claimed'),
      ),
    confirm(keys) {
      confirming.push(...keys);
      confirmed ??= pause(CONFIRM_LINGER_MS).then(() => {
        const together = confirming;
        confirming = [];
        confirmed = undefined;
        return orElse('confirm', stateStore.confirmKeys(together), undefined);
      });
      return confirmed;
    },
    release: (keys) => orElse('release', stateStore.releaseKeys(keys), undefined),
  };
}
