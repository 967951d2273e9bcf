import { createHmac } from 'node:crypto';
import { expectEnvelope, expectNoBody } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();

interface Secret {
  readonly secret: string;
}

/**
 * Resolves when every gateway has applied all earlier changes. With several gateways, `createKey` waits until each of them knows the new key. All
 * changes are in one ordered log (the registry), so a gateway that knows the key also knows the changes before it.
 */
const inForce = (site: string) => weir.createKey(site);
const makeSecret = async (site: string): Promise<string> => {
  const { secret } = (await weir.must(201, 'POST', `/sites/${site}/identity-secret`)) as Secret;
  await inForce(site);
  return secret;
};
const require = async (site: string, required: boolean): Promise<void> => {
  await weir.must(200, 'PATCH', `/sites/${site}`, { identity_verification: { required } });
  await inForce(site);
};
const sign = (secret: string, user: string) => createHmac('sha256', secret).update(user).digest('hex');
const identify = async (site: string, identity: object) =>
  expectNoBody(
    await weir.collect({ site_id: site, visitor_id: 'v', session_id: 's', type: 'identify', identity }),
    204,
  );

describe('a valid identity.signature makes a browser’s identify count as authenticated', () => {
  test('an identify changes fields that a server has set only if its signature is valid', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const secret = await makeSecret(site);
    expect((await weir.identify(key, { visitor_id: 'v', user_id: 'u', plan: 'pro', seats: 5 })).status).toBe(200);
    const signed = { user_id: 'u', email: 'signed@a.example', plan: 'max', seats: null, payment_customer_id: 'cus_1' };
    await identify(site, { ...signed, signature: sign(secret, 'u') });
    for (const signature of [undefined, '', 'x', sign(secret, 'other'), sign('wrong', 'u')]) {
      await identify(site, { user_id: 'u', email: 'forged@b.example', plan: 'free', signature });
      await identify(site, { user_id: 'attacker', payment_customer_id: 'cus_1', signature });
    }
    await weir.settled();
    const profiles = await weir.rows('profiles', site, 2, 'user_id, email, traits');
    expect(profiles.find(({ user_id }) => user_id === 'u')).toEqual({
      user_id: 'u',
      email: 'signed@a.example',
      traits: { plan: 'max' },
    });
    const [customer] = await weir.rows('payment_customers', site, 1, 'profile_id');
    const [owner] = await weir.sql("SELECT profile_id FROM profiles WHERE site_id = {site:String} AND user_id = 'u'", {
      site,
    });
    expect(customer).toEqual(owner);
  });

  test('if signatures are required, an unsigned identify gets 204, is dropped with its own reason, and links no visitor', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const secret = await makeSecret(site);
    await require(site, true);
    await identify(site, { user_id: 'forged', email: 'forged@b.example' });
    await identify(site, { user_id: 'forged', signature: sign(secret, 'other') });
    await identify(site, { user_id: 'signed', signature: sign(secret, 'signed') });
    expect((await weir.identify(key, { visitor_id: 'v2', user_id: 'server' })).status).toBe(200);
    await weir.events(key, { name: 'after', user_id: 'forged' });
    await weir.settled();
    const profiles = await weir.rows('profiles', site, 2, 'user_id');
    expect(profiles.map(({ user_id }) => user_id).toSorted()).toEqual(['server', 'signed']);
    const outcomes = await weir.rows('outcomes', site, 4, 'outcome, reason');
    expect(outcomes.filter(({ outcome }) => outcome === 'dropped')).toEqual([
      { outcome: 'dropped', reason: 'identity_unverified' },
      { outcome: 'dropped', reason: 'identity_unverified' },
    ]);
    expect(await weir.rows('events', site, 1, 'visitor_id')).toEqual([{ visitor_id: '' }]);

    await require(site, false);
    await identify(site, { user_id: 'optional' });
    await weir.rows('profiles', site, 3);
    await weir.balanced();
  });

  test('a server can send a trait with the name signature; a signature of a wrong type gets 400', async () => {
    const { site, key } = await weir.createSiteWithKey();
    expect((await weir.identify(key, { visitor_id: 'v', user_id: 'u', signature: 'inked' })).status).toBe(200);
    expect(await weir.rows('profiles', site, 1, 'traits')).toEqual([{ traits: { signature: 'inked' } }]);
    const hit = { site_id: site, visitor_id: 'v', session_id: 's', type: 'identify' };
    expectNoBody(await weir.collect({ ...hit, identity: { user_id: 'u', signature: 5 } }), 400);
  });
});

describe('the identity secret', () => {
  test('the secret is shown once; a new secret replaces it at once', async () => {
    const site = await weir.createSite();
    const path = `/sites/${site}/identity-secret`;
    const view = async () => (await weir.admin('GET', `/sites/${site}`)).json as { data: object };
    expect((await view()).data).toMatchObject({ identity_verification: { required: false, secret_created_at: null } });
    const first = await makeSecret(site);
    expect(first).toMatch(/^wis_[\w-]{43}$/);
    const shown = await weir.admin('GET', `/sites/${site}`);
    expect(shown.text + (await weir.admin('GET', '/sites')).text).not.toContain(first);
    expect(shown.json).toMatchObject({
      data: { identity_verification: { required: false, secret_created_at: expect.stringMatching(/Z$/) } },
    });
    const second = await makeSecret(site);
    expect(second).not.toBe(first);
    await require(site, true);
    await identify(site, { user_id: 'old', signature: sign(first, 'old') });
    await identify(site, { user_id: 'new', signature: sign(second, 'new') });
    await weir.settled();
    expect(await weir.rows('profiles', site, 1, 'user_id')).toEqual([{ user_id: 'new' }]);

    expectEnvelope(await weir.admin('DELETE', path), 409);
    await require(site, false);
    await weir.must(200, 'DELETE', path);
    expectEnvelope(await weir.admin('DELETE', path), 404);
    expectEnvelope(await weir.admin('PATCH', `/sites/${site}`, { identity_verification: { required: true } }), 409);
  });

  test.each([{ required: 'yes' }, {}, true, { required: true, secret: 'own' }])('400: %j', async (wrong) => {
    const site = await weir.createSite();
    expectEnvelope(await weir.admin('PATCH', `/sites/${site}`, { identity_verification: wrong }), 400);
  });

  test('a change of the site keeps the secret; an unknown site has none', async () => {
    const site = await weir.createSite();
    await makeSecret(site);
    await require(site, true);
    expect(await weir.must(200, 'PATCH', `/sites/${site}`, { name: 'New' })).toMatchObject({
      identity_verification: { required: true, secret_created_at: expect.any(String) },
    });
    for (const method of ['POST', 'DELETE']) {
      expectEnvelope(await weir.admin(method, '/sites/no-such-site/identity-secret'), 404);
    }
  });
});
