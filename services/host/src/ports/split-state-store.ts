import type { StateStore } from '@weir/ports/state-store';

/** The part of the state store that the gateway uses. */
export type ClaimsState = Pick<StateStore, 'claimKeys' | 'confirmKeys' | 'releaseKeys' | (typeof SHARED)[number]>;
/** The part of the state store that the enricher uses. */
export type PipelineState = Omit<StateStore, 'claimKeys' | 'confirmKeys' | 'releaseKeys' | 'close'>;

const SHARED = ['removeKeys', 'removeSiteKeys', 'ping', 'close'] as const;

/**
 * Joins the two parts of the embedded state store. They are separate environments of LMDB, because each environment is written by one
 * thread, and the gateway and the enricher can run in two threads.
 */
export function splitStateStore(claims: ClaimsState, state: PipelineState): StateStore {
  return {
    ...state,
    claimKeys: claims.claimKeys,
    confirmKeys: claims.confirmKeys,
    releaseKeys: claims.releaseKeys,
    async removeKeys(siteId, keys) {
      await Promise.all([claims.removeKeys(siteId, keys), state.removeKeys(siteId, keys)]);
    },
    async removeSiteKeys(siteId) {
      await Promise.all([claims.removeSiteKeys(siteId), state.removeSiteKeys(siteId)]);
    },
    async ping() {
      await Promise.all([claims.ping(), state.ping()]);
    },
    close: claims.close,
  };
}
