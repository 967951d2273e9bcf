import { isDependencyError } from '@weir/domain/errors';
import type { ClaimOutcome, KeyClaim, StateStore } from '@weir/ports/state-store';
import type { GatewayMetrics } from './gateway-metrics.ts';

/**
 * Claims of idempotency keys that go on without the state store: a claim only chooses the answer, so with the store away every
 * key counts as free, and the enricher still stores one row (decisions.md, events).
 */
export interface KeyClaims {
  claim(keys: readonly KeyClaim[]): Promise<readonly ClaimOutcome[]>;
  confirm(keys: readonly KeyClaim[]): Promise<void>;
  release(keys: readonly KeyClaim[]): Promise<void>;
}

export function createKeyClaims(stateStore: StateStore, metrics: GatewayMetrics): KeyClaims {
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
    confirm: (keys) => orElse('confirm', stateStore.confirmKeys(keys), undefined),
    release: (keys) => orElse('release', stateStore.releaseKeys(keys), undefined),
  };
}
