import { profileIdOf } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
let site = '';
let key = '';

beforeEach(async () => {
  ({ site, key } = await weir.createSiteWithKey());
});

async function visitorsByName(count: number) {
  const rows = await weir.rows('events', site, count, 'event_name, visitor_id, user_id, profile_id');
  return new Map(rows.map((row) => [String(row.event_name), row]));
}

describe('linking', () => {
  test('40 identify calls, each followed at once by an event with only that user_id: all 40 events are linked', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const profiles = await Promise.all(
      numbers.map(async (n) => {
        const answer = await weir.identify(key, { visitor_id: `visitor-${n}`, user_id: `user-${n}` });
        expect(answer.status).toBe(200);
        expect((await weir.events(key, { name: `event-${n}`, user_id: `user-${n}` })).status).toBe(202);
        return profileIdOf(answer);
      }),
    );
    // Weir stores the row of an event and the link of its visitor to a user in different tables, one after the other. `settled` waits for both.
    await weir.settled();
    const rows = await visitorsByName(40);
    const stored = (column: string) => numbers.map((n) => rows.get(`event-${n}`)?.[column]);
    expect(stored('visitor_id')).toEqual(numbers.map((n) => `visitor-${n}`));
    expect(stored('user_id')).toEqual(numbers.map((n) => `user-${n}`));
    expect(stored('profile_id')).toEqual(profiles);
  });

  test('the same with identify hits of a browser', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    await Promise.all(
      numbers.map(async (n) => {
        const identity = { user_id: `user-${n}` };
        const hit = { site_id: site, visitor_id: `visitor-${n}`, session_id: 's', type: 'identify', identity };
        expect((await weir.collect(hit)).status).toBe(204);
        expect((await weir.events(key, { name: `event-${n}`, userId: `user-${n}` })).status).toBe(202);
      }),
    );
    const rows = await visitorsByName(20);
    for (const n of numbers) expect(rows.get(`event-${n}`)?.visitor_id).toBe(`visitor-${n}`);
  });

  test('an event gets the visitor on which its user was last identified; an earlier event stays anonymous', async () => {
    await weir.events(key, { name: 'unknown', user_id: 'u' });
    await weir.identify(key, { visitor_id: 'v1', user_id: 'u' });
    await weir.events(key, { name: 'on-v1', user_id: 'u' });
    await weir.identify(key, { visitor_id: 'v2', user_id: 'u' });
    await weir.events(key, { name: 'on-v2', user_id: 'u' });
    const rows = await visitorsByName(3);
    expect(['unknown', 'on-v1', 'on-v2'].map((name) => rows.get(name)?.visitor_id)).toEqual(['', 'v1', 'v2']);
    expect(rows.get('unknown')?.user_id).toBe('u');
  });

  test('an event with a visitor_id belongs to that visitor, whatever its user_id', async () => {
    await weir.identify(key, { visitor_id: 'theirs', user_id: 'u' });
    await weir.events(key, { name: 'own', visitor_id: 'mine', user_id: 'u' });
    expect((await visitorsByName(1)).get('own')).toMatchObject({ visitor_id: 'mine', user_id: 'u' });
  });

  test('an event with the user_id of a profile belongs to that profile, even if its visitor belongs to another user', async () => {
    const ada = profileIdOf(await weir.identify(key, { visitor_id: 'ada-1', user_id: 'ada' }));
    const bob = profileIdOf(await weir.identify(key, { visitor_id: 'bob-1', user_id: 'bob' }));
    const future = Date.now() + 24 * 3_600_000;
    await weir.events(key, { name: 'on-bobs', visitor_id: 'bob-1', user_id: 'ada', timestamp: 0 });
    await weir.events(key, { name: 'on-unknown', visitor_id: 'unknown-visitor', user_id: 'ada', timestamp: future });
    await weir.events(key, { name: 'no-profile', visitor_id: 'bob-1', user_id: 'stranger' });
    await weir.settled();
    const rows = await visitorsByName(3);
    expect(rows.get('on-bobs')).toMatchObject({ visitor_id: 'bob-1', profile_id: ada });
    expect(rows.get('on-unknown')).toMatchObject({ visitor_id: 'unknown-visitor', profile_id: ada });
    expect(rows.get('no-profile')).toMatchObject({ visitor_id: 'bob-1', profile_id: bob });
    const seen = 'user_id, visitor_ids, first_seen_at = 0 AS since_1970, last_seen_at <= now64(3) AS not_later';
    expect(await weir.rows('profiles', site, 2, seen)).toEqual(
      expect.arrayContaining([
        { user_id: 'ada', visitor_ids: ['ada-1'], since_1970: 1, not_later: 1 },
        { user_id: 'bob', visitor_ids: ['bob-1'], since_1970: 0, not_later: 1 },
      ]),
    );
  });

  test('external_id is stored as properties.external_id and links no visitor', async () => {
    await weir.identify(key, { visitor_id: 'v', user_id: 'u' });
    await weir.events(key, { name: 'external', external_id: 'u', properties: { plan: 'pro' } });
    const columns =
      'visitor_id, profile_id, toString(properties.external_id) AS external_id, toString(properties.plan) AS plan';
    expect(await weir.rows('events', site, 1, columns)).toEqual([
      { visitor_id: '', profile_id: '', external_id: 'u', plan: 'pro' },
    ]);
  });

  test('users of one site are separate from users of another site', async () => {
    await weir.identify(key, { visitor_id: 'v', user_id: 'u' });
    const other = await weir.createSite();
    await weir.events((await weir.createKey(other)).key, { name: 'elsewhere', user_id: 'u' });
    expect(await weir.rows('events', other, 1, 'visitor_id, profile_id')).toEqual([{ visitor_id: '', profile_id: '' }]);
  });
});
