import type { Step } from '../pipeline/step.ts';

const DROPPED = { outcome: 'dropped', reason: 'identity_unverified', ruleId: '' } as const;

/**
 * Drops an identify (a request that links a visitor to a user) from a browser if the site requires signatures and the gateway has found no valid one.
 */
export const dropUnverified: Step = {
  name: 'drop-unverified',
  apply: ({ identityProof }) => (identityProof === 'refused' ? DROPPED : undefined),
};
