import type { ApiKey, Site } from '@weir/domain/registry/site';
import type { Viewer } from '@weir/domain/registry/viewer';
import type { AdminDeps } from '../src/control-deps.ts';
import type { AdminRequest } from '../src/http/admin-route.ts';
import { createMutex } from '../src/registry/mutex.ts';
import { removeIdentitySecret } from '../src/routes/identity-secret-route.ts';
import { revokeKey } from '../src/routes/keys-route.ts';
import { changeSite, createSite } from '../src/routes/sites-route.ts';
import { createSignIn } from '../src/sign-in/sign-in.ts';
import { removeViewer } from '../src/sign-in/viewers-route.ts';

const OLD: Site = { siteId: 'shop', name: 'Shop', domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 1 };
const NEW: Site = {
  ...OLD,
  keep: { events: '400d' },
  identityVerification: { secret: 's', secretCreatedAt: 2, required: true },
};
const KEY = { keyId: 'key_1', siteId: 'shop' } as ApiKey;
const VIEWER = { viewerId: 'viewer_1', siteId: 'shop' } as Viewer;

/** The dependencies of a process that has not read the last changes of another process. It reads them in `readToEnd`. */
function openStale(before: { readonly site?: Site }) {
  let { site } = before;
  let keys: readonly ApiKey[] = [];
  let viewer: Viewer | undefined;
  const stored: Site[] = [];
  const removed: string[] = [];
  const registry = {
    site: () => site,
    sites: () => [],
    keys: () => keys,
    viewer: () => viewer,
    erasures: () => [],
    replay: () => undefined,
    async readToEnd() {
      site = NEW;
      keys = [KEY];
      viewer = VIEWER;
    },
    async putSite(changed: Site) {
      stored.push(changed);
    },
    async removeKey(_siteId: string, keyId: string) {
      removed.push(keyId);
    },
    async removeViewer(_siteId: string, viewerId: string) {
      removed.push(viewerId);
    },
  };
  const keep = { events: 'forever', profiles: 'forever', rollups: 'forever' };
  const deps = { registry, runExclusive: createMutex(), clock: () => 3, keep } as unknown as AdminDeps;
  return { deps, stored, removed };
}

const request = <Body>(value: Body) =>
  ({
    params: { site_id: 'shop', key_id: 'key_1', viewer_id: 'viewer_1' },
    body: { value },
  }) as unknown as AdminRequest<Body>;

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

test('a viewer that another process has just created can be removed', async () => {
  const { deps, removed } = openStale({ site: NEW });
  expect(await removeViewer(deps, request({}))).toMatchObject({ status: 200 });
  expect(removed).toEqual(['viewer_1']);
});

test('the first sign-in keeps the secret of sessions that another process has just made', async () => {
  let secret: { readonly secret: string } | undefined;
  const stored: object[] = [];
  const registry = {
    sessionSecret: () => secret,
    signedOut: () => new Map(),
    async readToEnd() {
      secret = { secret: 'aa' };
    },
    async putSessionSecret(made: object) {
      stored.push(made);
    },
  };
  const deps = { registry, adminToken: 'x', clock: () => 3, randomBytes: Buffer.alloc, runExclusive: createMutex() };
  const { text } = await createSignIn(deps as unknown as Parameters<typeof createSignIn>[0]).begin(undefined);
  expect(text).toMatch(/^1\./);
  expect(stored).toEqual([]);
});
