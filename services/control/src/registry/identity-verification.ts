import type { IdentityVerification } from '@weir/domain/registry/site';
import { formatTime } from '../format-time.ts';

export const NO_SECRET = 'the site has no identity secret: create one before you require signatures';

/** The fields that the admin API shows, without the secret. */
export function identityVerificationView(verification: IdentityVerification | undefined): object {
  return {
    required: verification?.required ?? false,
    secret_created_at: verification === undefined ? null : formatTime(verification.secretCreatedAt),
  };
}
