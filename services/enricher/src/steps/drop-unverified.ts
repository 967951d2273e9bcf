import type { Step } from '../pipeline/step.ts';

const DROPPED = { outcome: 'dropped', reason: 'identity_unverified', ruleId: '' } as const;

/** Drops a browser's identify without a valid signature if the site requires signatures. The gateway has checked the signature. */
export const dropUnverified: Step = {
  name: 'drop-unverified',
  apply: ({ identityProof }) => (identityProof === 'refused' ? DROPPED : undefined),
};
