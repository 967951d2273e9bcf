import { randomBytes } from 'node:crypto';
import { hashApiKey, newApiKey } from '@weir/domain/api-key';
import type { Registry } from '@weir/ports/registry';

export const DEMO_SITE_ID = 'demo';

/**
 * Makes the site `demo` with a key of both scopes where no site is there yet; its key anew where nobody was told it.
 * Returns the plain key, which is kept nowhere.
 */
export async function makeDemoSite(registry: Registry, now: number, untold = false): Promise<string | undefined> {
  if (registry.sites().some(({ siteId }) => !untold || siteId !== DEMO_SITE_ID)) return undefined;
  const key = newApiKey(randomBytes);
  await registry.putSite({
    siteId: DEMO_SITE_ID,
    name: 'Demo',
    domain: 'localhost',
    timezone: 'UTC',
    limits: {},
    createdAt: now,
  });
  await registry.putKey({
    keyId: 'key_demo',
    siteId: DEMO_SITE_ID,
    name: 'demo',
    hash: hashApiKey(key),
    scopes: ['events:write', 'identify:write'],
    legacyIdentify: false,
    createdAt: now,
  });
  return key;
}
