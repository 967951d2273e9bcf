import { ADMIN_PREFIX, ADMIN_ROUTES } from '@weir/control/admin-routes';
import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import { useOpened } from '@weir/testkit/use-opened';
import { createBrowsing } from './browse.ts';
import { ADMIN_TOKEN, openControlHarness } from './control-harness.ts';

const weir = useOpened(openControlHarness);
beforeAll(async () => {
  for (const siteId of ['mine', 'other']) {
    await weir.call('POST', '/sites', { name: siteId, domain: 'example.com', site_id: siteId, timezone: 'Asia/Tokyo' });
  }
});
// Moves the clock, so that the limit of sign-in attempts begins again for each test.
beforeEach(() => weir.advance(61_000));

const { browse, cookieOf, addViewer, dataOf } = createBrowsing(weir);

describe('a viewer', () => {
  test('is shown once with the token, and then without it', async () => {
    const made = await addViewer();
    expect(made.token).toMatch(/^wv_[\w-]{43}$/);
    expect(made.token.startsWith(made.prefix)).toBe(true);
    const listed = (await weir.call('GET', '/sites/mine/viewers')).body.data;
    const { token, ...shown } = made;
    expect(listed).toContainEqual(shown);
    expect(JSON.stringify(listed)).not.toContain(token);
    expect((await weir.call('GET', '/topics/registry/records')).body.data.records.length).toBeGreaterThan(0);
    expect(JSON.stringify((await weir.call('GET', '/topics/registry/records')).body)).not.toContain(made.viewer_id);
  });

  const routes = ADMIN_ROUTES.filter(({ role }) => role !== 'anyone');
  const pathOf = (path: string, site: string): string => path.replace('{site_id}', site).replace(/\{\w+\}/g, 'x');
  const REPORTS =
    '/stats /breakdown /properties /realtime /funnel /cohorts /journeys /goals /conversions /segments /funnels /annotations /live'
      .split(' ')
      .map((name) => `/sites/{site_id}${name}`);

  test('the routes of a viewer are those of reports, of what was saved for them, of live events, and of the own session', () => {
    const open = routes.filter(({ role }) => role === 'viewer').map(({ method, path }) => `${method} ${path}`);
    expect(open.toSorted()).toEqual(
      [...REPORTS.map((path) => `GET ${path}`), 'GET /session', 'DELETE /session'].toSorted(),
    );
  });

  test.each(routes.map(({ method, path, role }) => [`${method} ${path}`, method, path, role] as const))(
    '%s: only the reports of the own site; 401 without a token',
    async (_name, method, path, role) => {
      const { token } = await addViewer();
      const cookie = await cookieOf(token);
      const body = method === 'POST' || method === 'PATCH' ? {} : undefined;
      // The answer with live events never ends. The test sends HEAD instead of GET, because both have the same checks.
      const verb = path.endsWith('/live') ? 'HEAD' : method;
      const ask = async (site: string, bearer = token): Promise<number> => {
        const { status } = await sendHttp(weir.url, {
          method: verb,
          path: `${ADMIN_PREFIX}${pathOf(path, site)}`,
          headers: { authorization: `Bearer ${bearer}` },
          ...(body && { body }),
        });
        return status;
      };
      const isOwn = role === 'viewer';
      expect(await ask('mine', 'wrong')).toBe(401);
      if (path === '/session') return;
      const status = await ask('mine');
      expect([401, 403].includes(status) ? status : 'allowed').toBe(isOwn ? 'allowed' : 403);
      expect((await browse(verb, pathOf(path, 'mine'), cookie)).status === 403).toBe(!isOwn);
      for (const site of ['other', 'none', 'MINE', 'mine%2F', '..%2Fmine']) {
        if (path.includes('{site_id}')) expect([site, await ask(site)]).toEqual([site, 403]);
      }
    },
  );

  test('knows its site, and can sign out', async () => {
    const { token, viewer_id } = await addViewer();
    const cookie = await cookieOf(token);
    expect(dataOf(await browse('GET', '/session', cookie))).toEqual({
      role: 'viewer',
      sites: ['mine'],
      viewer: { viewer_id, name: 'Ada' },
      site: { site_id: 'mine', name: 'mine', domain: 'example.com', timezone: 'Asia/Tokyo' },
      expires_at: expect.any(String),
      gateway_url: null,
    });
    expect((await browse('GET', '/sites/mine/goals', cookie)).status).toBe(200);
    expect((await browse('DELETE', '/session', cookie)).status).toBe(200);
    expect((await browse('GET', '/sites/mine/goals', cookie)).status).toBe(401);
  });

  test('that is removed is refused at once, with the token and with a session', async () => {
    const { token, viewer_id } = await addViewer();
    const cookie = await cookieOf(token);
    expect((await weir.call('DELETE', `/sites/other/viewers/${viewer_id}`)).status).toBe(404);
    expect((await weir.call('DELETE', `/sites/mine/viewers/${viewer_id}`)).status).toBe(200);
    expect((await weir.call('GET', '/sites/mine/goals', undefined, token)).status).toBe(401);
    expect((await browse('GET', '/sites/mine/goals', cookie)).status).toBe(401);
  });

  test('the hour of the last use is stored', async () => {
    const { token, viewer_id } = await addViewer();
    await weir.call('GET', '/sites/mine/goals', undefined, token);
    const hour = new Date(Math.floor(weir.clock() / 3_600_000) * 3_600_000).toISOString();
    await eventually('the last use is listed', async () => {
      const listed: Record<string, unknown>[] = (await weir.call('GET', '/sites/mine/viewers')).body.data;
      return listed.some((row) => row.viewer_id === viewer_id && row.last_used_at === hour);
    });
  });

  test('an unknown path and another method are the same for everybody who has a token', async () => {
    const { token } = await addViewer();
    for (const used of [ADMIN_TOKEN, token]) {
      expect((await weir.call('GET', '/nowhere', undefined, used)).status).toBe(404);
      expect((await weir.call('PUT', '/sites', undefined, used)).status).toBe(405);
    }
    expect((await weir.call('PUT', '/sites', undefined, 'wrong')).status).toBe(401);
  });
});
