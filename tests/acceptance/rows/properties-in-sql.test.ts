import { useWeir } from '../use-weir.ts';

// `properties.plan` works in SQL (docs/properties.md, In SQL), also if other rows have values of other types under the same name.

const weir = useWeir();

/** Creates a site with one event for each of these properties. The events are named a, b, c and so on. */
async function siteWith(...sent: readonly object[]): Promise<string> {
  const { site, key } = await weir.createSiteWithKey();
  for (const [index, properties] of sent.entries()) {
    const name = String.fromCharCode('a'.charCodeAt(0) + index);
    expect((await weir.events(key, { name, properties })).status).toBe(202);
  }
  await weir.rows('events', site, sent.length, 'event_name');
  return site;
}

test('a statement can group and sort by a property', async () => {
  const site = await siteWith({ plan: 'pro' }, { plan: 'free' }, { plan: 'pro' }, { plan: 5 }, { other: 1 });
  const plans = await weir.sql(
    'SELECT properties.plan AS plan, count() AS n FROM events WHERE site_id = {site:String} AND properties.plan IS NOT NULL ' +
      'GROUP BY plan ORDER BY plan',
    { site },
  );
  expect(plans).toHaveLength(3);
  expect(plans).toEqual(
    expect.arrayContaining([
      { plan: 'pro', n: 2 },
      { plan: 'free', n: 1 },
      { plan: 5, n: 1 },
    ]),
  );
});

test('a statement can group by a trait', async () => {
  const { site, key } = await weir.createSiteWithKey();
  for (const [user, plan] of [
    ['u1', 'pro'],
    ['u2', 'pro'],
    ['u3', 7],
  ]) {
    expect((await weir.identify(key, { visitor_id: `v-${user}`, user_id: user, plan })).status).toBe(200);
  }
  await weir.rows('profiles', site, 3, 'user_id');
  const sql =
    'SELECT traits.plan AS plan, count() AS n FROM profiles WHERE site_id = {site:String} GROUP BY plan ORDER BY n';
  expect(await weir.sql(sql, { site })).toEqual([
    { plan: 7, n: 1 },
    { plan: 'pro', n: 2 },
  ]);
});

test('values of other sites and other events do not change whether a statement is valid', async () => {
  const level = 'level_of_two_sites';
  const [texts, numbers] = await Promise.all([
    siteWith({ [level]: 'gold' }, { [level]: 'silver' }, { [level]: 3 }),
    siteWith({ [level]: 7 }, { [level]: 4 }, { [level]: true }),
  ]);
  const named = (site: string, condition: string) =>
    weir.sql(
      `SELECT event_name AS name FROM events WHERE site_id = {site:String} AND event_name IN ('a', 'b') AND ${condition}`,
      { site },
    );
  expect(await named(texts, `properties.${level} = 'gold'`)).toEqual([{ name: 'a' }]);
  expect(await named(texts, `properties.${level} LIKE 'sil%'`)).toEqual([{ name: 'b' }]);
  expect(await named(numbers, `properties.${level} > 5`)).toEqual([{ name: 'a' }]);
  expect(await named(numbers, `properties.${level} + 1 = 5`)).toEqual([{ name: 'b' }]);
});

test('`.:String` compares only the texts among values of several types', async () => {
  const site = await siteWith({ size: 'large' }, { size: 12 }, { size: 'small' });
  const sql =
    "SELECT event_name AS name FROM events WHERE site_id = {site:String} AND properties.size.:String = 'large'";
  expect(await weir.sql(sql, { site })).toEqual([{ name: 'a' }]);
});
