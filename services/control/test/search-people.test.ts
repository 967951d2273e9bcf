import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness } from './control-harness.ts';

let weir: ControlHarness;
let sent = 0;
const START = Date.now() - 3_600_000;

async function append(siteId: string, kind: 'event' | 'identify' | 'collect', body: object): Promise<void> {
  const eventId = `0199d1a5-7c00-7000-8000-${String(++sent).padStart(12, '0')}`;
  const head = { eventId, kind, siteId, receivedAt: START + sent * 1000, sealedIp: '' } as const;
  const value = encodeRawRecord(
    { ...head, userAgent: 'Mozilla/5.0 Firefox/125.0', acceptLanguage: '' },
    JSON.stringify(body),
  );
  await weir.eventLog.append(TOPIC_RAW, [{ partition: 0, value }]);
}
const pageview = (visitor: string, session: string, path: string) =>
  append('shop', 'collect', {
    ...{ site_id: 'shop', visitor_id: visitor, session_id: session, type: 'pageview' },
    url: `https://example.com${path}`,
  });

beforeAll(async () => {
  weir = await openControlHarness();
  for (const siteId of ['shop', 'other']) {
    await weir.call('POST', '/sites', { name: siteId, domain: 'example.com', site_id: siteId });
  }
  await pageview('v1', 's1', '/first');
  await pageview('v1', 's1', '/second');
  await append('shop', 'identify', {
    visitor_id: 'v1',
    user_id: 'u_ada',
    email: 'Ada@Example.com',
    name: 'Ada L',
    plan: 'Gold',
  });
  await append('shop', 'identify', {
    visitor_id: 'v2',
    user_id: 'u_bob',
    email: 'bob@example.com',
    plan: "100%_o'brien",
  });
  await append('shop', 'event', { name: 'paid', user_id: 'u_ada', value: '49.90', properties: { currency: 'EUR' } });
  await pageview('v2', 's2', '/bob');
  await pageview('v3', 's3', '/anonymous');
  await append('shop', 'event', { name: 'paid', user_id: 'u_new', value: '5', properties: { currency: 'EUR' } });
  await append('other', 'identify', { visitor_id: 'v1', user_id: 'u_ada', email: 'ada@other.example' });
  await append('other', 'event', { name: 'elsewhere', user_id: 'u_ada' });
  await eventually('all are stored', async () => {
    const count = async (table: string): Promise<number> =>
      Number((await weir.analytics.select<{ n: string }>(`SELECT count() AS n FROM ${table}`))[0]?.n);
    return (await count('records')) === sent && (await count('profiles')) === 3;
  });
  // An insert fills the tables of links and payments after the table `records`.
  await weir.analytics.runningInsertsEnd('weir');
});
afterAll(() => weir.close());

const search = async (body: object) => {
  const reply = await weir.call('POST', '/sites/shop/people/search', body);
  expect(reply.status).toBe(200);
  return reply.body.data;
};
const found = async (text: string): Promise<string[]> =>
  (await search({ search: text })).people.map(({ user_id }: { user_id: string }) => user_id);
const timeline = (body: object) => weir.call('POST', '/sites/shop/people/timeline', body);

test.each([
  ['', ['u_bob', 'u_ada']],
  ['u_a', ['u_ada']],
  ['ada@example', ['u_ada']],
  ['ADA L', ['u_ada']],
  ['gold', ['u_ada']],
  ['v2', ['u_bob']],
  ["100%_o'brien", ['u_bob']],
  ['%', ['u_bob']],
  ['ada@other', []],
  ["' OR 1 = 1 --", []],
])('a search for %p finds %j', async (text, users) => {
  expect((await found(text)).toSorted()).toEqual(users.toSorted());
});

test('a person has its traits, visitors and times; lists have pages', async () => {
  const { people, ...page } = await search({ search: 'u_ada' });
  expect(page).toEqual({ limit: 50, page: 1, has_more: false });
  expect(people).toEqual([
    {
      profile_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...{ user_id: 'u_ada', email: 'Ada@Example.com', name: 'Ada L', image: '' },
      traits: { plan: 'Gold' },
      visitor_ids: ['v1'],
      first_seen_at: new Date(START + 1000).toISOString(),
      last_seen_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    },
  ]);
  const pages = [await search({ limit: 1 }), await search({ limit: 1, page: 2 }), await search({ limit: 1, page: 3 })];
  expect(pages.map(({ has_more, people: { length } }) => [has_more, length])).toEqual([
    [true, 1],
    [false, 1],
    [false, 0],
  ]);
});

test('the timeline of a user has the events of its visitors, their sessions and its payments, the newest first', async () => {
  const { status, body } = await timeline({ user_id: 'u_ada' });
  expect(status).toBe(200);
  const { profile, events, sessions, payments } = body.data;
  expect([profile.user_id, profile.visitor_ids]).toEqual(['u_ada', ['v1']]);
  expect(events.map((event: Record<string, string>) => event.event_name || event.pathname)).toEqual([
    'paid',
    '/second',
    '/first',
  ]);
  expect(events[1]).toMatchObject({
    session_id: 's1',
    timestamp: new Date(START + 2000).toISOString(),
    browser: 'Firefox',
  });
  expect(events[0].properties).toEqual({ currency: 'EUR' });
  expect(sessions).toMatchObject([{ session_id: 's1', pageviews: 2, entry_path: '/first', exit_path: '/second' }]);
  expect(payments).toEqual([
    {
      event_id: expect.any(String),
      event_name: 'paid',
      timestamp: expect.any(String),
      currency: 'EUR',
      amount: '49.90',
    },
  ]);
});

test('the timeline of a visitor that is no user, and of unknown persons', async () => {
  const { profile, events, sessions } = (await timeline({ visitor_id: 'v3' })).body.data;
  expect([profile, events.length, sessions.length]).toEqual([null, 1, 1]);
  expect((await timeline({ visitor_id: 'v1' })).body.data.profile.user_id).toBe('u_ada');
  const unknown = { profile: null, events: [], sessions: [], payments: [], limit: 50, page: 1, has_more: false };
  expect((await timeline({ user_id: 'none' })).body.data).toEqual(unknown);
});

test('the timeline of a user who was never identified has the events and payments with this user ID', async () => {
  const { profile, events, payments } = (await timeline({ user_id: 'u_new' })).body.data;
  expect(profile).toBe(null);
  expect(events).toMatchObject([{ event_name: 'paid', user_id: 'u_new' }]);
  expect(payments).toMatchObject([{ event_name: 'paid', amount: '5' }]);
});

test('the events have pages', async () => {
  const [first, second] = [
    await timeline({ user_id: 'u_ada', limit: 2 }),
    await timeline({ user_id: 'u_ada', limit: 2, page: 2 }),
  ];
  expect([first.body.data.has_more, first.body.data.events.length]).toEqual([true, 2]);
  expect(second.body.data.events.map(({ pathname }: { pathname: string }) => pathname)).toEqual(['/first']);
});

test.each([
  ['search', { search: 'x'.repeat(256) }],
  ['search', { limit: 201 }],
  ['search', { page: 0 }],
  ['timeline', {}],
  ['timeline', { user_id: 'a', visitor_id: 'b' }],
  ['timeline', { user_id: 5 }],
])('%s with %j is 400', async (name, body) => {
  expect((await weir.call('POST', `/sites/shop/people/${name}`, body)).status).toBe(400);
});

test('another site does not exist', async () => {
  expect((await weir.call('POST', '/sites/none/people/search', {})).status).toBe(404);
});
