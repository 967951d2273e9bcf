import { randomBytes } from 'node:crypto';
import { hashApiKey, newApiKey } from '@weir/domain/registry/api-key';
import type { Registry } from '@weir/ports/registry';

export const DEMO_SITE_ID = 'demo';

/**
 * Creates the site `demo` and a key with both scopes if the registry has no site. With `replaceKey`, also replaces the key if `demo` is the only
 * site. The caller sets `replaceKey` if an earlier start made the site, but did not print the key. Never changes an existing site. Resolves with the
 * new key in plain text, or with undefined if no key was created. The plain text is not stored.
 */
export async function makeDemoSite(registry: Registry, now: number, replaceKey = false): Promise<string | undefined> {
  if (registry.sites().some(({ siteId }) => !replaceKey || siteId !== DEMO_SITE_ID)) return undefined;
  const key = newApiKey(randomBytes);
  if (registry.site(DEMO_SITE_ID) === undefined) {
    await registry.putSite({
      siteId: DEMO_SITE_ID,
      name: 'Demo',
      domain: 'localhost',
      timezone: 'UTC',
      limits: {},
      createdAt: now,
    });
  }
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
