import { expectEnvelope, expectIdentifyError, expectJson, expectNoBody, UUID_V5 } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';
beforeAll(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

const identify = (fields: object) => weir.identify(key, { visitor_id: 'v', user_id: 'u', ...fields });
const collect = (fields: object, identity: object, siteId = site) =>
  weir.collect({ site_id: siteId, visitor_id: 'v', session_id: 's', type: 'identify', ...fields, identity });
const keys = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);
const traits = (count: number) => Object.fromEntries(keys(count).map((name) => [name, 1]));

describe('image: an http or https URL', () => {
  test.each([
    'https://a.example/\n',
    'https://a.example/\u0000',
    'https://a.example/a\tb',
    'https://a.example/\u0085',
    'https://a.example/" onerror="alert(1)',
    "https://a.example/' onerror='alert(1)",
    'https://a.example/<script>',
    'https://a.example/a b',
    ' https://a.example/i.png',
    'javascript:alert(1)//https://a.example/',
  ])('400: %j, by a server and by a browser', async (image) => {
    expectIdentifyError(await identify({ image }), 400, /image/);
    expectNoBody(await collect({}, { user_id: 'u', image }), 400);
  });

  test.each([
    'https://a.example',
    'http://a.example:8080/i.png?size=2&c=%22#x',
    'https://a.example/%C3%A4.png',
    "HTTPS://A.example:443/../ä.png?name=O'Brien",
  ])('accepted: %j', async (image) => {
    expect((await identify({ image })).status).toBe(200);
    expectNoBody(await collect({}, { user_id: 'u', image }), 204);
  });
});

describe('a required name, visitor ID or user ID that is only white space counts as missing', () => {
  test.each([' ', '\t\n', '\u00a0\u2003'])('%j', async (blank) => {
    expectIdentifyError(await identify({ visitor_id: blank }), 400, /visitor_id is required/);
    expectIdentifyError(await identify({ user_id: blank }), 400, /user_id is required/);
    expectNoBody(await collect({}, { user_id: blank }), 400);
    expectNoBody(await collect({ visitor_id: blank }, { user_id: 'u' }), 400);
    expectNoBody(await weir.collect({ site_id: site, visitor_id: blank, session_id: 's', type: 'pageview' }), 400);
    expectEnvelope(await weir.events(key, { name: blank }), 400);
  });

  test('a server event with blank IDs is anonymous, unless an alias of the field has an ID', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    expect((await weir.events(ownKey, { name: 'blank', visitor_id: ' ', user_id: '\t' })).status).toBe(202);
    expect((await weir.events(ownKey, { name: 'named', visitor_id: ' ', visitorId: 'v' })).status).toBe(202);
    const rows = await weir.rows('events', own, 2, 'event_name, visitor_id, user_id');
    expect(rows.toSorted((a, b) => String(a.event_name).localeCompare(String(b.event_name)))).toEqual([
      { event_name: 'blank', visitor_id: '', user_id: '' },
      { event_name: 'named', visitor_id: 'v', user_id: '' },
    ]);
  });
});

describe('traits after the first 25 are dropped without validation', () => {
  test.each([{ nested: {} }, { Plan: 'x' }, { long: 'x'.repeat(1001) }, { '': 1 }])(
    'twenty-five valid traits and %j',
    async (invalid) => {
      expectJson(await identify({ ...traits(25), ...invalid }), 200, {
        status: 'success',
        data: {
          message: 'User identified',
          profileId: expect.stringMatching(UUID_V5),
          warning: '1 custom trait beyond the limit of 25 was dropped',
        },
      });
      expectNoBody(await collect({}, { user_id: 'u', ...traits(25), ...invalid }), 204);
      expectIdentifyError(await identify({ ...traits(24), ...invalid }), 400, /trait/);
    },
  );

  test('a null trait counts as one of the 25; after the first 25 it removes nothing', async () => {
    const { site: own, key: ownKey } = await weir.createSiteWithKey();
    const send = (body: object) => weir.identify(ownKey, { visitor_id: 'v', user_id: 'u', ...body });
    expect((await send({ k24: 'stays', last: 'stays' })).status).toBe(200);
    await weir.settled();
    const nulls = Object.fromEntries(keys(24).map((name) => [name, null]));
    const answer = await send({ ...nulls, new: 1, k24: null, last: null });
    expect(answer.json).toMatchObject({ data: { warning: '2 custom traits beyond the limit of 25 were dropped' } });
    await weir.settled();
    expect(await weir.rows('profiles', own, 1, 'traits')).toEqual([
      { traits: { k24: 'stays', last: 'stays', new: expect.anything() } },
    ]);
  });
});

test('collect: a trait with an invalid key is dropped and counted, and the others are kept', async () => {
  const own = await weir.createSite();
  const identity = { user_id: 'u', firstName: 'A', 'a b': 1, email: 'a@b.example', plan: 'pro', ...traits(25) };
  expectNoBody(await collect({}, identity, own), 204);
  const [profile] = await weir.rows(
    'profiles',
    own,
    1,
    'email, traits.plan AS plan, length(JSONAllPaths(traits)) AS n',
  );
  expect(profile).toEqual({ email: 'a@b.example', plan: 'pro', n: 25 });
  // A trait whose value has a wrong type is refused, as in all other fields.
  expectNoBody(await collect({}, { user_id: 'u', plan: {} }), 400);
});
