import { NEW_KEY } from '@weir/domain/admin-schemas';
import { hashApiKey, newApiKey } from '@weir/domain/api-key';
import type { ApiKey, Scope } from '@weir/domain/site';
import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { randomId } from '../random-id.ts';
import { conflict, created, invalid, notFound, ok } from '../reply.ts';
import type { Serial } from '../serial.ts';
import { timeText } from '../time-text.ts';
import { compileBody } from '../validate.ts';

const KEYS_PER_SITE_MAX = 1000;

interface KeyFields {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly legacy_identify?: boolean;
}

export function keyRoutes(router: Router, deps: ControlDeps, serial: Serial): void {
  const { registry } = deps;
  const checkNew = compileBody<KeyFields>(NEW_KEY);

  defineRoute(router, '/sites/:site_id/keys', {
    get: (request) => {
      const siteId = param(request, 'site_id');
      return registry.site(siteId) === undefined ? notFound('site') : ok(registry.keys(siteId).map(keyView));
    },
    post: (request) =>
      serial(async () => {
        const siteId = param(request, 'site_id');
        if (registry.site(siteId) === undefined) return notFound('site');
        const checked = checkNew(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const { name, scopes, legacy_identify: legacyIdentify = false } = checked.value;
        if (legacyIdentify === (scopes !== undefined)) return invalid('give either scopes or legacy_identify: true');
        if (registry.keys(siteId).length >= KEYS_PER_SITE_MAX) {
          return conflict(`the site has ${KEYS_PER_SITE_MAX} keys, the most there can be`);
        }
        const plain = newApiKey(deps.randomBytes);
        const key: ApiKey = {
          keyId: randomId('key', deps.randomBytes),
          siteId,
          name,
          hash: hashApiKey(plain),
          scopes: scopes ?? ['identify:write'],
          legacyIdentify,
          createdAt: deps.clock(),
        };
        await registry.putKey(key);
        return created({ ...keyView(key), key: plain });
      }),
  });

  defineRoute(router, '/sites/:site_id/keys/:key_id', {
    delete: (request) =>
      serial(async () => {
        const siteId = param(request, 'site_id');
        const keyId = param(request, 'key_id');
        if (!registry.keys(siteId).some((key) => key.keyId === keyId)) return notFound('key');
        await registry.removeKey(siteId, keyId);
        return ok({ key_id: keyId, revoked: true });
      }),
  });
}

/** Never the key, nor its hash. */
function keyView(key: ApiKey): object {
  return {
    key_id: key.keyId,
    site_id: key.siteId,
    name: key.name,
    scopes: key.scopes,
    legacy_identify: key.legacyIdentify,
    created_at: timeText(key.createdAt),
  };
}
