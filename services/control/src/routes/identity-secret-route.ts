import { newIdentitySecret } from '@weir/domain/people/identity-signature';
import type { Site } from '@weir/domain/registry/site';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, created, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { identityVerificationView } from '../registry/identity-verification.ts';

/** Creates a new secret, which replaces the old secret at once. Only this answer shows the secret. */
export function createIdentitySecret(deps: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  const { registry, runExclusive, randomBytes, clock } = deps;
  return runExclusive(async () => {
    const site = registry.site(params.site_id ?? '');
    if (site === undefined) return notFound('site');
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

export function removeIdentitySecret({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const site = registry.site(params.site_id ?? '');
    if (site?.identityVerification === undefined) return notFound(site === undefined ? 'site' : 'identity secret');
    if (site.identityVerification.required) {
      return conflict('the site requires signatures: set identity_verification.required to false first');
    }
    const { identityVerification: _removed, ...rest } = site;
    const changed: Site = rest;
    await registry.putSite(changed);
    return ok({ site_id: site.siteId, removed: true });
  });
}
