import { hashApiKey, newApiKey } from '@weir/domain/registry/api-key';
import type { ApiKey, Scope } from '@weir/domain/registry/site';
import type { Registry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { created, fullSite, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { isKnownToAny } from '../registry/known-to-any.ts';
import { randomId } from '../registry/random-id.ts';

const KEYS_PER_SITE_MAX = 1000;

interface NewKey {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly legacy_identify?: boolean;
}

export function listKeys({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.keys(siteId).map((key) => keyView(key, registry)));
}

export function createKey(deps: AdminDeps, request: AdminRequest<NewKey>): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { name, scopes, legacy_identify: legacyIdentify = false }) => {
    if (legacyIdentify === (scopes !== undefined)) return invalid('give either scopes or legacy_identify: true');
    if (registry.keys(siteId).length >= KEYS_PER_SITE_MAX) return fullSite(KEYS_PER_SITE_MAX, 'keys');
    const plain = newApiKey(randomBytes);
    const key: ApiKey = {
      keyId: randomId('key', randomBytes),
      siteId,
      name,
      hash: hashApiKey(plain),
      scopes: scopes ?? ['identify:write'],
      legacyIdentify,
      createdAt: clock(),
    };
    await registry.putKey(key);
    return created({ ...keyView(key, registry), key: plain });
  });
}

export function revokeKey({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', key_id: keyId = '' } = params;
    const isKnown = () => registry.keys(siteId).some((key) => key.keyId === keyId);
    if (!(await isKnownToAny(registry, isKnown))) return notFound('key');
    await registry.removeKey(siteId, keyId);
    return ok({ key_id: keyId, revoked: true });
  });
}

/** The fields of a key that the admin API shows: neither the key itself nor its hash. */
function keyView(key: ApiKey, registry: Registry): object {
  const use = registry.tokenUse(key.keyId);
  return {
    key_id: key.keyId,
    site_id: key.siteId,
    name: key.name,
    scopes: key.scopes,
    legacy_identify: key.legacyIdentify,
    created_at: formatTime(key.createdAt),
    last_used_at: use === undefined ? null : formatTime(use.at),
  };
}
