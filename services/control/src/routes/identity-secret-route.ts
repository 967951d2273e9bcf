import { newIdentitySecret } from '@weir/domain/people/identity-signature';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, created, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { identityVerificationView } from '../registry/identity-verification.ts';

/** Creates a new secret, which replaces the old secret at once. Only this answer shows the secret. */
export function createIdentitySecret(deps: AdminDeps, request: AdminRequest): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async (site) => {
    const secret = newIdentitySecret(randomBytes);
    const identityVerification = {
      secret,
      secretCreatedAt: clock(),
      required: site.identityVerification?.required ?? false,
    };
    await registry.putSite({ ...site, identityVerification });
    return created({ site_id: site.siteId, secret, ...identityVerificationView(identityVerification) });
  });
}

export function removeIdentitySecret(deps: AdminDeps, request: AdminRequest): Promise<Reply> {
  return changeInSite(deps, request, async ({ identityVerification, ...site }) => {
    if (identityVerification === undefined) return notFound('identity secret');
    if (identityVerification.required) {
      return conflict('the site requires signatures: set identity_verification.required to false first');
    }
    await deps.registry.putSite(site);
    return ok({ site_id: site.siteId, removed: true });
  });
}
