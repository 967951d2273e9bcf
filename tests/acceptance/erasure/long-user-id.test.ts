import { eventually } from '@weir/testkit/eventually';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();

test('a user ID of 256 code points, the longest of an event, can be shown, exported and erased', async () => {
  const { site, key } = await weir.createSiteWithKey();
  const user = '😀'.repeat(256);
  const ask = async (userId: string) => {
    const path = `/api/admin/sites/${site}/person?${new URLSearchParams({ user_id: userId })}`;
    const headers = { authorization: `Bearer ${weir.adminToken}` };
    const { status, json } = await weir.send({ path, method: 'GET', headers });
    return { status, json };
  };
  expect((await weir.events(key, { name: 'named', user_id: user })).status).toBe(202);
  await weir.settled();
  // This user was never identified, so there is no profile.
  const timeline = `/sites/${site}/people/timeline`;
  expect(await weir.must(200, 'POST', timeline, { user_id: user })).toMatchObject({ profile: null });
  expect(await ask(user)).toMatchObject({ status: 200, json: { records: [{ user_id: user }] } });

  const { erasure_id: id } = (await weir.must(202, 'POST', `/sites/${site}/erasures`, { users: [user] })) as {
    erasure_id: string;
  };
  await eventually('the erasure to be done', async () => {
    expect(await weir.must(200, 'GET', `/erasures/${id}`)).toMatchObject({ phase: 'done', removed: { records: 1 } });
    return true;
  });
  expect(await ask(user)).toMatchObject({ status: 200, json: { records: [] } });

  const longer = `${user}u`;
  expect((await weir.admin('POST', timeline, { user_id: longer })).status).toBe(400);
  expect((await ask(longer)).status).toBe(400);
});
