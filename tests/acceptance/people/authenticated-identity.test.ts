import { expectNoBody, profileIdOf } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();

async function ownSite() {
  const { site, key } = await weir.createSiteWithKey();
  const byServer = async (fields: object, visitor = 'v-server') =>
    profileIdOf(await weir.identify(key, { visitor_id: visitor, user_id: 'u', ...fields }));
  const byBrowser = async (identity: object, visitor = 'v-browser') => {
    const hit = { site_id: site, visitor_id: visitor, session_id: 's', type: 'identify' };
    expectNoBody(await weir.collect({ ...hit, identity: { user_id: 'u', ...identity } }), 204);
  };
  return { site, key, byServer, byBrowser };
}

const PROFILE = 'email, name, image, traits, visitor_ids';
const IMAGE = 'https://a.example/i.png';

describe('a browser does not change fields that an authenticated identify has set', () => {
  test('fields and traits from a server win over those from a browser, in any order; all others come from the browser', async () => {
    const { site, byServer, byBrowser } = await ownSite();
    await byBrowser({ email: 'first@b.example', name: 'First', plan: 'free', early: true });
    await byServer({ email: 'server@a.example', image: IMAGE, plan: 'pro', seats: 5, removed: null });
    await byBrowser({
      email: 'attacker@b.example',
      name: 'Browser',
      image: 'https://b.example/i.png',
      plan: 'max',
      seats: null,
      removed: 'back',
      late: 'x',
    });
    await weir.settled();
    expect(await weir.rows('profiles', site, 1, PROFILE)).toEqual([
      {
        email: 'server@a.example',
        name: 'Browser',
        image: IMAGE,
        traits: { early: true, late: 'x', plan: 'pro', seats: expect.anything() },
        visitor_ids: ['v-browser', 'v-server'],
      },
    ]);

    await byServer({ email: 'second@a.example', name: 'Server', plan: null, late: 'server' });
    await byBrowser({ email: 'again@b.example', name: 'Again', plan: 'free', late: null });
    await weir.settled();
    expect(await weir.rows('profiles', site, 1, PROFILE)).toEqual([
      {
        email: 'second@a.example',
        name: 'Server',
        image: IMAGE,
        traits: { early: true, late: 'server', seats: expect.anything() },
        visitor_ids: ['v-browser', 'v-server'],
      },
    ]);
  });

  test('a browser cannot change the user of a payment customer that a server linked, or of its payments', async () => {
    const { site, key, byServer, byBrowser } = await ownSite();
    const customers = () => weir.rows('payment_customers', site, 1, 'payment_customer_id, visitor_id, profile_id');
    await byBrowser({ user_id: 'early', payment_customer_id: 'cus_1' }, 'v-early');
    const payer = await byServer({ payment_customer_id: 'cus_1' });
    await byBrowser({ user_id: 'attacker', payment_customer_id: 'cus_1' }, 'v-attacker');
    const properties = { currency: 'EUR', payment_customer_id: 'cus_1' };
    expect((await weir.events(key, { name: 'payment', value: '49.90', properties })).status).toBe(202);
    await weir.settled();
    expect(await customers()).toEqual([{ payment_customer_id: 'cus_1', visitor_id: 'v-server', profile_id: payer }]);
    expect(await weir.rows('payments', site, 1, 'profile_id')).toEqual([{ profile_id: payer }]);

    const other = await byServer({ user_id: 'other', payment_customer_id: 'cus_1' }, 'v-other');
    await weir.settled();
    expect(await customers()).toEqual([{ payment_customer_id: 'cus_1', visitor_id: 'v-other', profile_id: other }]);
  });

  test('browsers can still link visitors', async () => {
    const { site, key, byServer, byBrowser } = await ownSite();
    await byServer({}, 'shared');
    await byBrowser({ user_id: 'second' }, 'shared');
    await weir.events(key, { name: 'after', visitor_id: 'shared' });
    await weir.settled();
    const people = await weir.rows('profiles', site, 2, 'user_id, profile_id, visitor_ids');
    expect(people.find(({ user_id }) => user_id === 'u')?.visitor_ids).toEqual([]);
    const second = people.find(({ user_id }) => user_id === 'second');
    expect(second?.visitor_ids).toEqual(['shared']);
    expect(await weir.rows('events', site, 1, 'profile_id')).toEqual([{ profile_id: second?.profile_id }]);
  });
});
