import type { ApiKey, Site } from '@weir/domain/registry/site';
import type { AdminDeps } from '../src/control-deps.ts';
import type { AdminRequest } from '../src/http/admin-route.ts';
import { createMutex } from '../src/registry/mutex.ts';
import { removeIdentitySecret } from '../src/routes/identity-secret-route.ts';
import { revokeKey } from '../src/routes/keys-route.ts';
import { changeSite, createSite } from '../src/routes/sites-route.ts';

const OLD: Site = { siteId: 'shop', name: 'Shop', domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 1 };
const NEW: Site = {
  ...OLD,
  keep: { events: '400d' },
  identityVerification: { secret: 's', secretCreatedAt: 2, required: true },
};
const KEY = { keyId: 'key_1', siteId: 'shop' } as ApiKey;

/** The dependencies of a process that has not read the last changes of another process. It reads them in `readToEnd`. */
function openStale(before: { readonly site?: Site }) {
  let { site } = before;
  let keys: readonly ApiKey[] = [];
  const stored: Site[] = [];
  const removed: string[] = [];
  const registry = {
    site: () => site,
    sites: () => [],
    keys: () => keys,
    erasures: () => [],
    replay: () => undefined,
    async readToEnd() {
      site = NEW;
      keys = [KEY];
    },
    async putSite(changed: Site) {
      stored.push(changed);
    },
    async removeKey(_siteId: string, keyId: string) {
      removed.push(keyId);
    },
  };
  const keep = { events: 'forever', profiles: 'forever', rollups: 'forever' };
  const deps = { registry, runExclusive: createMutex(), clock: () => 3, keep } as unknown as AdminDeps;
  return { deps, stored, removed };
}

const request = <Body>(value: Body) =>
  ({ params: { site_id: 'shop', key_id: 'key_1' }, body: { value } }) as unknown as AdminRequest<Body>;

test('a change of a site keeps what another process has just changed', async () => {
  const { deps, stored } = openStale({ site: OLD });
  expect(await changeSite(deps, request({ name: 'Other' }))).toMatchObject({ status: 200 });
  expect(stored).toEqual([{ ...NEW, name: 'Other' }]);
});

test('the identity secret is not removed if another process has just made signatures required', async () => {
  const { deps, stored } = openStale({ site: OLD });
  expect(await removeIdentitySecret(deps, request({}))).toMatchObject({ status: 409 });
  expect(stored).toEqual([]);
});

test('409 for the ID of a site that another process has just created', async () => {
  const { deps, stored } = openStale({});
  const created = await createSite(deps, request({ site_id: 'shop', name: 'Shop', domain: 'example.com' }));
  expect(created).toMatchObject({ status: 409 });
  expect(stored).toEqual([]);
});

test('a key that another process has just created can be revoked', async () => {
  const { deps, removed } = openStale({ site: NEW });
  expect(await revokeKey(deps, request({}))).toMatchObject({ status: 200 });
  expect(removed).toEqual(['key_1']);
});
