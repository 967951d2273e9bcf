import { astral, expectIdentifyError, expectJson, profileIdOf, UUID_V5 } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();

/** Returns `profiles.traits` as an object. The answer has text or an object, depending on the type of the column in ClickHouse. */
function traitsOf(row: { readonly traits?: unknown } | undefined): unknown {
  return typeof row?.traits === 'string' ? JSON.parse(row.traits) : row?.traits;
}

/** An identify as text, because a JavaScript object would move keys that look like integers to the front. */
function rawIdentify(visitor: string, user: string, traits: readonly string[]): string {
  return `{"visitor_id":"${visitor}","user_id":"${user}",${traits.map((key) => `"${key}":"t-${key}"`).join(',')}}`;
}

const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `k${String(index).padStart(2, '0')}`);

describe('traits: 25; extras dropped, with data.warning in the response', () => {
  test('25 are kept without a warning; of 28 the first 25 in body order, and the warning says 3', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const whole = await weir.identify(key, rawIdentify('v', 'all', keysOf(25)));
    expectJson(whole, 200, {
      status: 'success',
      data: { message: 'User identified', profileId: expect.stringMatching(UUID_V5) },
    });
    const cut = await weir.identify(key, rawIdentify('v2', 'cut', keysOf(28)));
    expectJson(cut, 200, {
      status: 'success',
      data: {
        message: 'User identified',
        profileId: expect.stringMatching(UUID_V5),
        warning: '3 custom traits beyond the limit of 25 were dropped',
      },
    });
    const profiles = await weir.rows('profiles', site, 2, 'user_id, traits');
    for (const user of ['all', 'cut']) {
      const traits = traitsOf(profiles.find((row) => row.user_id === user)) as object;
      expect(Object.keys(traits).toSorted()).toEqual(keysOf(25));
    }
  });

  test('the order of the body also applies to keys that look like integers', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const answer = await weir.identify(key, rawIdentify('v', 'u', [...keysOf(25), '7', '1', '0']));
    expect(answer.json).toMatchObject({ data: { warning: expect.stringContaining('3') } });
    const [profile] = await weir.rows('profiles', site, 1, 'traits');
    expect(Object.keys(traitsOf(profile) as object).toSorted()).toEqual(keysOf(25));
  });

  test('the known fields and their aliases are not traits', async () => {
    const { key } = await weir.createSiteWithKey();
    const fields = { visitor_id: 'v', visitorId: 'v', user_id: 'u', userId: 'u', email: 'e', name: 'n', siteId: '' };
    const rest = { image: 'http://a.example/', payment_customer_id: 'c', paymentCustomerId: 'c', site_id: '' };
    const traits = Object.fromEntries(keysOf(25).map((name) => [name, 1]));
    const answer = await weir.identify(key, { ...fields, ...rest, ...traits });
    expect(answer.json).toEqual({
      status: 'success',
      data: { message: 'User identified', profileId: expect.stringMatching(UUID_V5) },
    });
  });

  test.each([
    ['Plan', 'x'],
    ['a.b', 'x'],
    ['a b', 'x'],
    ['ä', 'x'],
    ['k'.repeat(65), 'x'],
    ['nested', { a: 1 }],
    ['list', [1]],
    ['long', 'x'.repeat(1001)],
    ['astral', astral(1001)],
  ])('400 and the message names the trait %s', async (trait, value) => {
    const { key } = await weir.createSiteWithKey();
    const answer = await weir.identify(key, { visitor_id: 'v', user_id: 'u', [trait]: value });
    expectIdentifyError(answer, 400, new RegExp(trait.replace('.', '\\.')));
  });

  test('an empty trait key and a number that is not finite get 400', async () => {
    const { key } = await weir.createSiteWithKey();
    expectIdentifyError(await weir.identify(key, { visitor_id: 'v', user_id: 'u', '': 1 }), 400);
    expectIdentifyError(await weir.identify(key, '{"visitor_id":"v","user_id":"u","big":1e999}'), 400, /big/);
    const long = '{"visitor_id":"v","user_id":"u","huge":18446744073709551617}';
    expectIdentifyError(await weir.identify(key, long), 400, /"huge"/);
  });

  test('every type of value is kept up to its limit', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const traits = {
      ['k'.repeat(64)]: 1,
      'a-b_9': true,
      off: false,
      text: 'x'.repeat(1000),
      wide: astral(1000),
      num: -1.5,
      born: '1956-03-12',
      seen: '2024-05-01T10:00:00',
      at: '2024-05-01 10:00:00.5',
    };
    expect((await weir.identify(key, { visitor_id: 'v', user_id: 'u', ...traits, gone: null })).status).toBe(200);
    const [profile] = await weir.rows('profiles', site, 1, 'traits');
    expect(traitsOf(profile)).toEqual(traits);
  });
});

describe('profileId is stable', () => {
  test('the same site and user always give the same ID; another user or site another', async () => {
    const [one, two] = [await weir.createSiteWithKey(), await weir.createSiteWithKey()];
    const idOf = async (key: string, user: string, visitor: string) => {
      return profileIdOf(await weir.identify(key, { visitor_id: visitor, user_id: user }));
    };
    const first = await idOf(one.key, 'u', 'v1');
    expect(await idOf(one.key, 'u', 'v2')).toBe(first);
    const others = [await idOf(one.key, 'U', 'v1'), await idOf(two.key, 'u', 'v1')];
    expect(new Set([first, ...others]).size).toBe(3);
    const profiles = await weir.rows('profiles', one.site, 2, 'user_id, profile_id');
    expect(profiles.find((row) => row.user_id === 'u')?.profile_id).toBe(first);
  });
});

describe('identifying again merges', () => {
  test('fields that are sent replace the old ones, other fields stay, and a null trait removes the trait', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const image = 'https://a.example/1.png';
    const first = {
      visitor_id: 'v1',
      user_id: 'u',
      email: 'one@a.example',
      name: 'One',
      image,
      plan: 'free',
      age: 3,
      beta: true,
    };
    const second = {
      visitor_id: 'v2',
      user_id: 'u',
      email: '',
      name: 'Two',
      plan: 'pro',
      age: null,
      payment_customer_id: 'cus_1',
    };
    expect((await weir.identify(key, first)).status).toBe(200);
    expect((await weir.identify(key, second)).status).toBe(200);
    await weir.settled();
    const columns = 'email, name, image, traits, visitor_ids, profile_id, first_seen_at <= last_seen_at AS ordered';
    const [profile, ...more] = await weir.rows('profiles', site, 1, columns);
    expect(more).toEqual([]);
    expect(profile).toMatchObject({ email: 'one@a.example', name: 'Two', image });
    expect(traitsOf(profile)).toEqual({ plan: 'pro', beta: true });
    expect([profile?.visitor_ids].flat().toSorted()).toEqual(['v1', 'v2']);
    expect(Boolean(profile?.ordered)).toBe(true);
    const customers = await weir.rows(
      'payment_customers',
      site,
      1,
      'payment_customer_id, visitor_id, profile_id, linked_at',
    );
    expect(customers).toEqual([
      { payment_customer_id: 'cus_1', visitor_id: 'v2', profile_id: profile?.profile_id, linked_at: expect.anything() },
    ]);
  });

  test('a visitor and all its events belong to the user that was identified last', async () => {
    const { site, key } = await weir.createSiteWithKey();
    await weir.events(key, { name: 'before', visitor_id: 'shared' });
    let last = '';
    for (const user of ['first', 'second']) {
      last = profileIdOf(await weir.identify(key, { visitor_id: 'shared', user_id: user }));
    }
    await weir.events(key, { name: 'after', visitor_id: 'shared' });
    await weir.settled();
    const events = await weir.rows('events', site, 2, 'event_name, profile_id');
    expect(events.map((row) => row.profile_id)).toEqual([last, last]);
    const profiles = await weir.rows('profiles', site, 2, 'user_id, visitor_ids');
    expect(profiles.find((row) => row.user_id === 'second')?.visitor_ids).toEqual(['shared']);
    expect(profiles.find((row) => row.user_id === 'first')?.visitor_ids).toEqual([]);
  });
});
