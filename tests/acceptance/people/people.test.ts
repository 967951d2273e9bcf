import { profileIdOf } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();

const events = (site: string, count: number) =>
  weir.rows('people_events', site, count, 'event_name, visitor_id, profile_id, profile_id_then');

test('events belong to the user of their time when a visitor changes from one user to another', async () => {
  const { site, key } = await weir.createSiteWithKey();
  const event = (name: string) => weir.events(key, { name, visitor_id: 'v' });
  await event('before');
  const first = profileIdOf(await weir.identify(key, { visitor_id: 'v', user_id: 'first' }));
  await event('first');
  const second = profileIdOf(await weir.identify(key, { visitor_id: 'v', user_id: 'second' }));
  await event('second');
  await weir.settled();
  const rows = new Map((await events(site, 3)).map((row) => [row.event_name, row]));
  expect([...rows.values()].map((row) => row.profile_id)).toEqual([second, second, second]);
  const then = ['before', 'first', 'second'].map((name) => rows.get(name)?.profile_id_then);
  expect(then).toEqual([first, first, second]);
});

describe('unlinking a visitor (decision 0013)', () => {
  test('the visitor belongs to the previous user again, an event with only the user_id is anonymous, and the audit is balanced', async () => {
    const { site, key } = await weir.createSiteWithKey();
    const unlink = (body: object) => weir.admin('POST', `/sites/${site}/unlink`, body);
    await weir.identify(key, { visitor_id: 'v', user_id: 'right' });
    const wrong = profileIdOf(await weir.identify(key, { visitor_id: 'v', user_id: 'wrong', plan: 'pro' }));
    await weir.events(key, { name: 'linked', user_id: 'wrong' });
    await weir.settled();

    // The request has no user_id, so Weir removes the link between the visitor and its present user.
    const { status, json } = await unlink({ visitor_id: 'v' });
    const data = { visitor_id: 'v', user_id: 'wrong', profile_id: wrong, unlinked: true };
    expect([status, json]).toEqual([200, { status: 'success', data }]);
    await weir.events(key, { name: 'unlinked', user_id: 'wrong' });
    await weir.settled();
    const byName = new Map((await events(site, 2)).map((row) => [row.event_name, row]));
    expect(byName.get('linked')).toMatchObject({ visitor_id: 'v', profile_id: wrong, profile_id_then: wrong });
    expect(byName.get('unlinked')).toMatchObject({ visitor_id: '', profile_id: wrong });
    const people = await weir.rows('profiles', site, 2, 'user_id, visitor_ids, traits.plan AS plan');
    expect(people).toEqual(
      expect.arrayContaining([
        { user_id: 'right', visitor_ids: ['v'], plan: null },
        { user_id: 'wrong', visitor_ids: [], plan: 'pro' },
      ]),
    );

    expect((await unlink({ visitor_id: 'v', user_id: 'right' })).status).toBe(200);
    await weir.settled();
    expect((await events(site, 2)).map((row) => row.profile_id)).toEqual([wrong, wrong]);
    expect((await unlink({ visitor_id: 'v' })).status).toBe(404);
    expect(await weir.rows('outcomes', site, 4, 'outcome, reason')).toEqual(
      expect.arrayContaining([
        { outcome: 'identify', reason: '' },
        { outcome: 'identify', reason: 'unlink' },
      ]),
    );
    await weir.balanced();
  });

  test.each([
    [{}, 400],
    [{ visitor_id: '' }, 400],
    [{ visitor_id: 'v'.repeat(65) }, 400],
    [{ visitor_id: 'v', user_id: 7 }, 400],
    // Usually a variable that is not set. It must not unlink the present user of the visitor.
    [{ visitor_id: 'v', user_id: '' }, 400],
    [{ visitor_id: 'unknown' }, 404],
  ])('%j is %i', async (body, status) => {
    const { site } = await weir.createSiteWithKey();
    expect((await weir.admin('POST', `/sites/${site}/unlink`, body)).status).toBe(status);
  });

  test('an unknown site gets 404', async () => {
    expect((await weir.admin('POST', '/sites/nowhere/unlink', { visitor_id: 'v' })).status).toBe(404);
  });
});
