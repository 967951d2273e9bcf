import { eventually } from '@weir/testkit/eventually';
import { bearer } from '@weir/testkit/weir-client';
import { expectEnvelope, expectIdentifyError, expectNoBody } from '../expect-answers.ts';
import { inForceEverywhere, useWeir } from '../use-weir.ts';

const weir = useWeir();
const site = { name: 'Shop', domain: 'shop.example' };
const unique = () => `site-${process.pid}-${performance.now().toString(36).replace('.', '')}`;

describe('sites', () => {
  test('201 with the site; a missing site_id is generated', async () => {
    const made = (await weir.must(201, 'POST', '/sites', site)) as { site_id: string };
    expect(made).toMatchObject(site);
    expect(made.site_id).toMatch(/^[A-Za-z0-9_.:-]{1,64}$/);
    expect(await weir.must(200, 'GET', `/sites/${made.site_id}`)).toEqual(made);
    const list = (await weir.must(200, 'GET', '/sites')) as { site_id: string }[];
    expect(list.filter((found) => found.site_id === made.site_id)).toEqual([made]);
  });

  test('site_id and timezone can be given; 409 if the site_id exists', async () => {
    const given = { ...site, site_id: unique(), timezone: 'Europe/Berlin' };
    expect(await weir.must(201, 'POST', '/sites', given)).toMatchObject(given);
    expectEnvelope(await weir.admin('POST', '/sites', given), 409);
    expectEnvelope(await weir.admin('POST', '/sites', { ...site, site_id: given.site_id }), 409);
  });

  test.each([
    {},
    { name: 'x' },
    { domain: 'x.example' },
    { ...site, name: '' },
    { ...site, name: 5 },
    { ...site, domain: 'not a domain' },
    { ...site, timezone: 'Mars/Phobos' },
    { ...site, site_id: '../x' },
    { ...site, query_allow: 'q' },
    { ...site, query_allow: [''] },
    { ...site, query_allow: ['q', 'q'] },
    { ...site, query_allow: Array.from({ length: 101 }, (_, index) => `q${index}`) },
    { ...site, site_id: 'a b' },
    [],
    '{"name":',
  ])('400: %j', async (body) => {
    expectEnvelope(await weir.admin('POST', '/sites', body), 400);
  });

  test('PATCH changes the fields that are sent and keeps the others', async () => {
    const id = await weir.createSite(site);
    expect(await weir.must(200, 'PATCH', `/sites/${id}`, { name: 'New' })).toMatchObject({
      name: 'New',
      domain: site.domain,
    });
    await weir.must(200, 'PATCH', `/sites/${id}`, {
      domain: 'new.example',
      timezone: 'Asia/Tokyo',
      limits: { events: 5 },
    });
    expect(await weir.must(200, 'GET', `/sites/${id}`)).toMatchObject({
      name: 'New',
      domain: 'new.example',
      timezone: 'Asia/Tokyo',
      limits: { events: 5 },
    });
    for (const wrong of [{ timezone: 'x' }, { name: '' }, { limits: { events: -1 } }, { limits: { events: 'x' } }]) {
      expectEnvelope(await weir.admin('PATCH', `/sites/${id}`, wrong), 400);
    }
    expectEnvelope(await weir.admin('PATCH', '/sites/no-such-site', { name: 'x' }), 404);
  });

  test('query_allow is a list, or null for all parameters; PATCH keeps it if it is not sent', async () => {
    const id = await weir.createSite();
    const allow = async (change: object) =>
      ((await weir.must(200, 'PATCH', `/sites/${id}`, change)) as { query_allow: unknown }).query_allow;
    expect(await allow({})).toBeNull();
    expect(await allow({ query_allow: ['page', 'q'] })).toEqual(['page', 'q']);
    expect(await allow({ name: 'New' })).toEqual(['page', 'q']);
    expect(await allow({ query_allow: [] })).toEqual([]);
    expect(await allow({ query_allow: null })).toBeNull();
  });

  test.each([
    [null, '?page=2&token=t&utm_source=news&gclid=1', '?token=t&page=1'],
    [['page', 'q'], '?page=2', '?page=1'],
    [[], '', ''],
  ])('"Query strings of stored URLs can be cut per site to an allow-list": %j', async (list, query, from) => {
    const id = await weir.createSite({ query_allow: list });
    await inForceEverywhere();
    const url = 'https://shop.example/list';
    const referrer = 'https://shop.example/';
    const hit = { site_id: id, visitor_id: 'v', session_id: 's', type: 'pageview' };
    const queries = { url: `${url}?page=2&token=t&utm_source=news&gclid=1`, referrer: `${referrer}?token=t&page=1` };
    expectNoBody(await weir.collect({ ...hit, ...queries }), 204);
    expect(await weir.rows('events', id, 1, 'url, referrer, utm_source, click_id_type')).toEqual([
      { url: `${url}${query}`, referrer: `${referrer}${from}`, utm_source: 'news', click_id_type: 'gclid' },
    ]);
  });

  test('DELETE removes the site and its keys: requests soon get 404 and 401', async () => {
    const { site: id, key } = await weir.createSiteWithKey();
    expect([200, 204]).toContain((await weir.admin('DELETE', `/sites/${id}`)).status);
    const hit = { site_id: id, visitor_id: 'v', session_id: 's', type: 'pageview' };
    await weir.everywhere('no site', { path: '/api/collect', body: hit }, ({ status }) => status === 404);
    expectNoBody(await weir.collect(hit), 404);
    expectEnvelope(await weir.events(key, { name: 'x' }), 401);
    expectEnvelope(await weir.admin('GET', `/sites/${id}`), 404);
    expectEnvelope(await weir.admin('DELETE', `/sites/${id}`), 404);
    expectEnvelope(await weir.admin('GET', `/sites/${id}/keys`), 404);
  });
});

describe('keys', () => {
  test('201 {key_id, key, name, scopes}; the key is shown only once', async () => {
    const id = await weir.createSite();
    const body = { name: 'backend', scopes: ['events:write'] };
    const made = (await weir.must(201, 'POST', `/sites/${id}/keys`, body)) as { key_id: string; key: string };
    expect(made).toMatchObject({ ...body, key_id: expect.any(String), key: expect.any(String), last_used_at: null });
    const listed = await weir.admin('GET', `/sites/${id}/keys`);
    expect(listed.text).not.toContain(made.key);
    const found = (listed.json as { data: { key_id: string }[] }).data.find((key) => key.key_id === made.key_id);
    expect(found).toMatchObject(body);
    expect(found).not.toHaveProperty('key');
    expect(found).not.toHaveProperty('hash');
  });

  test('the hour of the last use is listed', async () => {
    const id = await weir.createSite();
    const { key, keyId } = await weir.createKey(id);
    expect((await weir.events(key, { name: 'x' })).status).toBe(202);
    await eventually('the last use is listed', async () => {
      const keys = (await weir.must(200, 'GET', `/sites/${id}/keys`)) as {
        key_id: string;
        last_used_at: string | null;
      }[];
      const at = keys.find((listed) => listed.key_id === keyId)?.last_used_at ?? '';
      return Math.abs(Date.now() - Date.parse(at)) <= 3_700_000;
    });
  });

  test('a legacy identify key is accepted', async () => {
    const id = await weir.createSite();
    const made = await weir.must(201, 'POST', `/sites/${id}/keys`, { name: 'old', legacy_identify: true });
    expect(made).toMatchObject({ name: 'old', key: expect.any(String), key_id: expect.any(String) });
  });

  test('invalid bodies get 400, unknown sites 404', async () => {
    const id = await weir.createSite();
    const wrong = [
      {},
      { name: 'x', scopes: ['admin'] },
      { name: 'x', scopes: 'events:write' },
      { scopes: ['events:write'] },
    ];
    for (const body of wrong) expectEnvelope(await weir.admin('POST', `/sites/${id}/keys`, body), 400);
    expectEnvelope(await weir.admin('POST', '/sites/no-such-site/keys', { name: 'x', scopes: ['events:write'] }), 404);
    expectEnvelope(await weir.admin('DELETE', `/sites/${id}/keys/no-such-key`), 404);
  });

  test('a revoked key soon gets 401 on every gateway', async () => {
    const id = await weir.createSite();
    const { key, keyId } = await weir.createKey(id);
    const { key: kept } = await weir.createKey(id);
    expect((await weir.events(key, { name: 'x' })).status).toBe(202);
    expect([200, 204]).toContain((await weir.admin('DELETE', `/sites/${id}/keys/${keyId}`)).status);
    await weir.keyRefused(key);
    expectEnvelope(await weir.events(key, { name: 'x' }), 401);
    expectIdentifyError(await weir.identify(key, { visitor_id: 'v', user_id: 'u' }), 401);
    expect((await weir.events(kept, { name: 'x' })).status).toBe(202);
    const other = await weir.createSite();
    expectEnvelope(await weir.admin('DELETE', `/sites/${other}/keys/${keyId}`), 404);
  });
});

describe('token', () => {
  test('401 in the response envelope without a token, with a wrong token, and with an API key', async () => {
    const { key } = await weir.createSiteWithKey();
    const calls = [
      ['GET', '/sites'],
      ['POST', '/sites'],
      ['GET', '/sites/x'],
      ['PATCH', '/sites/x'],
      ['DELETE', '/sites/x'],
      ['GET', '/sites/x/keys'],
      ['POST', '/sites/x/keys'],
      ['DELETE', '/sites/x/keys/y'],
      ['POST', '/sites/x/identity-secret'],
      ['DELETE', '/sites/x/identity-secret'],
      ['GET', '/sites/x/exclusions'],
      ['POST', '/sites/x/exclusions'],
      ['DELETE', '/sites/x/exclusions/y'],
      ['POST', '/sql'],
      ['GET', '/pipeline'],
    ] as const;
    for (const [method, path] of calls) {
      for (const headers of [{}, bearer('wrong'), bearer(key), bearer(`${weir.adminToken}x`)]) {
        const body = method === 'POST' ? { query: 'SELECT 1', ...site } : undefined;
        expectEnvelope(await weir.send({ method, path: `/api/admin${path}`, headers, body }), 401);
      }
    }
  });
});
