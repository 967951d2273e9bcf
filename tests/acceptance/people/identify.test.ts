import { astral, expectIdentifyError, expectJson, UUID_V5 } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

const base = { visitor_id: 'v', user_id: 'u' };
const identified = {
  status: 'success',
  data: { message: 'User identified', profileId: expect.stringMatching(UUID_V5) },
};
const accepts = async (body: unknown) => expectJson(await weir.identify(key, body), 200, identified);
const refuses = async (body: unknown, message: RegExp) =>
  expectIdentifyError(await weir.identify(key, body), 400, message);

describe('POST /api/identify', () => {
  test('200: identity saved, without a warning', async () => {
    await accepts({ ...base, email: 'a@b.example', name: 'A', image: 'https://a.example/i.png', plan: 'pro' });
  });

  test.each([
    ['visitor_id', { user_id: 'u' }],
    ['visitor_id', { user_id: 'u', visitor_id: '' }],
    ['visitor_id', { user_id: 'u', visitor_id: null }],
    ['visitor_id', { user_id: 'u', visitor_id: 5 }],
    ['user_id', { visitor_id: 'v' }],
    ['user_id', { visitor_id: 'v', user_id: '' }],
    ['user_id', { visitor_id: 'v', user_id: null }],
    ['user_id', { visitor_id: 'v', user_id: {} }],
    ['email', { ...base, email: 1 }],
    ['name', { ...base, name: ['x'] }],
    ['image', { ...base, image: false }],
    ['image', { ...base, image: 'javascript:alert(1)' }],
    ['image', { ...base, image: 'data:image/png;base64,AA==' }],
    ['image', { ...base, image: 'ftp://a.example/i.png' }],
    ['image', { ...base, image: '/i.png' }],
    ['image', { ...base, image: '//a.example/i.png' }],
    ['image', { ...base, image: 'https://' }],
    ['site_id', { ...base, site_id: 5 }],
  ])('400: %s in %j', async (field, body) => {
    await refuses(body, new RegExp(field));
  });

  test.each(['cus 1', 'c/1', 'ä', 'c'.repeat(256), 'c\n'])('400: invalid customer ID %j', async (id) => {
    await refuses({ ...base, payment_customer_id: id }, /customer ID/i);
    await refuses({ ...base, paymentCustomerId: id }, /invalid/i);
  });

  test('a customer ID of the maximum length is accepted', async () => {
    await accepts({ ...base, payment_customer_id: 'azAZ09_.:-'.padEnd(255, 'c') });
    await accepts({ ...base, paymentCustomerId: 'c' });
    await refuses({ ...base, payment_customer_id: 17 }, /customer ID/i);
  });

  test('401: missing or invalid API key', async () => {
    expectIdentifyError(await weir.send({ path: '/api/identify', body: base }), 401);
    expectIdentifyError(await weir.identify('unknown', base), 401);
    expectIdentifyError(await weir.identify('unknown', '{"malformed'), 401);
    expectIdentifyError(await weir.identify('', base), 401);
  });

  test('403: site_id does not match the key site', async () => {
    const other = await weir.createSite();
    const body = { error: 'Identify key site mismatch' };
    expectJson(await weir.identify(key, { ...base, site_id: other }), 403, body);
    expectJson(await weir.identify(key, { ...base, siteId: other }), 403, body);
    expectJson(await weir.identify(key, { ...base, site_id: 'no-such-site' }), 403, body);
    expectJson(await weir.identify(key, { ...base, site_id: other, siteId: site }), 403, body);
  });

  test('a site_id that matches, is null or is empty is accepted', async () => {
    for (const value of [site, null, '']) await accepts({ ...base, site_id: value });
    await accepts({ ...base, siteId: site });
    await accepts({ ...base, site_id: site, siteId: 'no-such-site' });
  });

  test('403: a known key without identify:write; a legacy identify key is accepted (5.4)', async () => {
    const eventsOnly = await weir.createKey(site, { scopes: ['events:write'] });
    const lacks = { error: 'API key does not have identify:write scope' };
    expectJson(await weir.identify(eventsOnly.key, base), 403, lacks);
    expectJson(await weir.identify(eventsOnly.key, '{"malformed'), 403, lacks);
    const legacy = await weir.createKey(site, { scopes: undefined, legacy_identify: true });
    expectJson(await weir.identify(legacy.key, base), 200, identified);
  });

  test('the body (400) is checked before the site (403)', async () => {
    await refuses({ user_id: 'u', site_id: 'no-such-site' }, /visitor_id/);
  });

  test('Content-Type as for events', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8']) {
      expectJson(await weir.identify(key, base, { 'content-type': type }), 200, identified);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      expectIdentifyError(
        await weir.identify(key, JSON.stringify(base), { 'content-type': type }),
        400,
        /content-type/i,
      );
    }
  });
});

describe('field limits of identify: at the limit and one above it', () => {
  test.each([
    ['visitor_id', 64],
    ['visitorId', 64],
    ['user_id', 255],
    ['userId', 255],
    ['email', 255],
    ['name', 255],
  ])('%s: up to %i chars, which are code points', async (field, max) => {
    const required = field.startsWith('visitor') ? 'visitor_id' : field.startsWith('user') ? 'user_id' : '';
    const rest = Object.fromEntries(Object.entries(base).filter(([name]) => name !== required));
    const body = (value: string) => ({ ...rest, [field]: value });
    await accepts(body('x'.repeat(max)));
    await accepts(body(astral(max)));
    await refuses(body('x'.repeat(max + 1)), new RegExp(field.slice(0, 4)));
    await refuses(body(astral(max + 1)), /./);
  });

  test('image: up to 500 chars, http or https', async () => {
    const image = (chars: number, start = 'https://a.example/') => ({ ...base, image: start.padEnd(chars, 'i') });
    await accepts(image(500));
    await accepts(image(500, 'http://a.example/'));
    await refuses(image(501), /image/);
  });

  test('null and empty mean absent', async () => {
    for (const value of [null, '']) {
      await accepts({ ...base, email: value, name: value, image: value, payment_customer_id: value, site_id: value });
    }
  });
});

test('a lone surrogate becomes U+FFFD in a field, and gets 400 in a trait or a property', async () => {
  const { site: own, key: ownKey } = await weir.createSiteWithKey();
  const half = '\ud83d';
  const identity = { visitor_id: half, user_id: half, name: half, email: half, payment_customer_id: 'c', plan: 'pro' };
  expectJson(await weir.identify(ownKey, identity), 200, identified);
  expect((await weir.identify(ownKey, { ...identity, plan: half })).status).toBe(400);
  expect((await weir.events(ownKey, { name: 'e', user_id: half })).status).toBe(202);
  expect((await weir.events(ownKey, { name: 'e', properties: { [half]: 1 } })).status).toBe(400);
  expect((await weir.events(ownKey, { name: 'e', properties: { a: half } })).status).toBe(400);
  const hit = { site_id: own, visitor_id: 'v', session_id: 's', type: 'identify', identity: { user_id: half } };
  expect((await weir.collect(hit)).status).toBe(204);
  const [profile] = await weir.rows('profiles', own, 1, 'user_id, name, traits.plan AS plan');
  expect(profile).toEqual({ user_id: '\ufffd', name: '\ufffd', plan: 'pro' });
  const [event] = await weir.rows('events', own, 1, 'user_id, visitor_id');
  expect(event?.user_id).toBe('\ufffd');
  await weir.rows('outcomes', own, 2);
});

describe('aliases: snake_case wins', () => {
  test('each alias is read', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const send = (body: object) => weir.identify(ownKey, body);
    expect((await send({ visitorId: 'vc', userId: 'uc', paymentCustomerId: 'cc' })).status).toBe(200);
    expect(
      (
        await send({
          visitor_id: 'v',
          visitorId: 'no',
          user_id: 'u',
          userId: 'no',
          payment_customer_id: 'c',
          paymentCustomerId: 'no',
        })
      ).status,
    ).toBe(200);
    const profiles = await weir.rows('profiles', own, 2, 'user_id, visitor_ids, traits');
    expect(profiles.toSorted((a, b) => String(a.user_id).localeCompare(String(b.user_id)))).toMatchObject([
      { user_id: 'u', visitor_ids: ['v'] },
      { user_id: 'uc', visitor_ids: ['vc'] },
    ]);
    const customers = await weir.rows('payment_customers', own, 2, 'payment_customer_id, visitor_id');
    expect(customers.map((row) => `${row.payment_customer_id} ${row.visitor_id}`).toSorted()).toEqual(['c v', 'cc vc']);
  });
});
