import { createClient } from '@clickhouse/client';
import fc from 'fast-check';
import { batch, identify, type RowFields, T0, useClickhouse } from './clickhouse-harness.ts';
import { type Act, expectedProfiles, history, ownerOf, ownerThen, rowOf } from './people-model.ts';

let next = 0;
const opened = useClickhouse();

async function insert(rows: readonly RowFields[]): Promise<void> {
  if (rows.length === 0) return;
  const planned = batch(next, rows);
  next += rows.length;
  await opened.analytics.insertRecords(planned);
}
const query = async (sql: string, site = ''): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await opened.analytics.userQuery(sql, { site })).rows;

/** Runs a query and groups its rows by site. Each history has its own site. */
async function bySite(sql: string): Promise<ReadonlyMap<unknown, readonly object[]>> {
  const found = new Map<unknown, object[]>();
  for (const { site_id, ...row } of await query(sql)) found.set(site_id, [...(found.get(site_id) ?? []), row]);
  return found;
}

test('identifies, unlinks and events in any order, also repeated, give the same profiles', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      // One run stores and compares many histories together, which is faster. If the test fails, the same seed generates the same histories again.
      const histories = fc.sample(history, { seed, numRuns: 60 });
      const sites = new Map<string, readonly Act[]>(histories.map((acts, at) => [`r${run}-${at}`, acts]));
      const mine = `site_id LIKE 'r${run}-%'`;
      run += 1;
      // Distributes the rows of a history over three inserts, so that ClickHouse must combine rows of different inserts.
      const parts: RowFields[][] = [[], [], []];
      for (const [site, acts] of sites) {
        acts.forEach((one, at) => {
          parts[at % 3]?.push(rowOf(site, one));
        });
      }
      for (const part of parts) await insert(part);

      const events = await bySite(
        `SELECT site_id, event_id, profile_id, profile_id_then FROM people_events WHERE ${mine} ORDER BY event_id`,
      );
      const profiles = await bySite(
        `SELECT site_id, profile_id, user_id, email, traits, visitor_ids,
           toUnixTimestamp64Milli(first_seen_at) AS first, toUnixTimestamp64Milli(last_seen_at) AS last
         FROM profiles WHERE ${mine} ORDER BY profile_id`,
      );
      for (const [site, acts] of sites) {
        const wanted = acts
          .filter(({ kind }) => kind === 'event')
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map((event) => ({
            event_id: event.id,
            profile_id: ownerOf(acts, event),
            profile_id_then: ownerThen(acts, event),
          }));
        expect({ acts, events: events.get(site) ?? [] }).toEqual({ acts, events: wanted });
        expect({ acts, profiles: profiles.get(site) ?? [] }).toEqual({ acts, profiles: expectedProfiles(acts) });
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

const at = (second: number): number => T0 + second * 1000;
const who = (user: string) => ({ profile_id: `p-${user}`, user_id: user });
const link = (site: string, user: string, second: number, fields: RowFields = {}): RowFields =>
  identify(who(user), { site_id: site, visitor_id: 'v', received_at: at(second), ...fields });

describe('a visitor that moves from one user to another', () => {
  test('profile_id is the last user; profile_id_then the user at the time, or the first one after it', async () => {
    const seen = [1, 3, 5].map((second) => ({ site_id: 'passed', visitor_id: 'v', timestamp: at(second) }));
    await insert([...seen, link('passed', 'b', 4), link('passed', 'a', 2)]);
    const columns = 'toUnixTimestamp(timestamp) - {from:UInt32} AS s, profile_id, profile_id_then';
    const sql = `SELECT ${columns} FROM people_events WHERE site_id = 'passed' ORDER BY s`;
    expect((await opened.analytics.userQuery(sql, { from: T0 / 1000 })).rows).toEqual([
      { s: 1, profile_id: 'p-b', profile_id_then: 'p-a' },
      { s: 3, profile_id: 'p-b', profile_id_then: 'p-a' },
      { s: 5, profile_id: 'p-b', profile_id_then: 'p-b' },
    ]);
    expect(await query("SELECT since > 0 AS later, profile_id FROM links_in_time WHERE site_id = 'passed'")).toEqual([
      { later: 0, profile_id: 'p-a' },
      { later: 1, profile_id: 'p-b' },
    ]);
  });
});

test.each(['profiles', 'profile_values', 'links'])(
  'a new profile is not shown until the view %s_fill has stored its part of the insert',
  async (name) => {
    const client = createClient({ ...opened.clickhouse, database: 'weir' });
    const site = `whole-${name}`;
    const profiles =
      'SELECT profile_id, visitor_ids, traits.plan AS plan FROM profiles WHERE site_id = {site:String} ORDER BY 1';
    const planned = batch(next, [
      link(site, 'a', 1, { detail: JSON.stringify({ ...who('a'), traits: { plan: 'pro' } }) }),
      link(site, 'b', 1, { visitor_id: 'w' }),
    ]);
    next += planned.lines.length;
    await client.command({ query: `DETACH TABLE ${name}_fill` });
    try {
      await opened.analytics.insertRecords(planned);
      expect(await query(profiles, site)).toEqual([]);
    } finally {
      await client.command({ query: `ATTACH TABLE ${name}_fill` });
      await client.close();
    }
    await opened.analytics.insertRecords(planned);
    expect(await query(profiles, site)).toEqual([
      { profile_id: 'p-a', visitor_ids: ['v'], plan: 'pro' },
      { profile_id: 'p-b', visitor_ids: ['w'], plan: null },
    ]);
  },
);

describe('unlink (docs/decisions/0013)', () => {
  test('removes earlier identifies of this visitor and user, but not later ones', async () => {
    const people = "SELECT profile_id, visitor_ids FROM profiles WHERE site_id = 'un' ORDER BY profile_id";
    await insert([
      { site_id: 'un', visitor_id: 'v' },
      link('un', 'a', 1, {
        detail: JSON.stringify({ ...who('a'), payment_customer_id: 'c', traits: { plan: 'pro' } }),
      }),
      link('un', 'b', 2),
      link('un', 'b', 3, { reason: 'unlink' }),
    ]);
    expect(await query(people)).toEqual([
      { profile_id: 'p-a', visitor_ids: ['v'] },
      { profile_id: 'p-b', visitor_ids: [] },
    ]);
    await insert([link('un', 'a', 4, { reason: 'unlink' })]);
    expect(await query("SELECT profile_id, profile_id_then FROM people_events WHERE site_id = 'un'")).toEqual([
      { profile_id: '', profile_id_then: '' },
    ]);
    expect(await query("SELECT * EXCEPT linked_at FROM payment_customers WHERE site_id = 'un'")).toEqual([
      { site_id: 'un', payment_customer_id: 'c', visitor_id: '', profile_id: 'p-a' },
    ]);
    await insert([link('un', 'a', 5)]);
    expect(await query(people)).toEqual([
      { profile_id: 'p-a', visitor_ids: ['v'] },
      { profile_id: 'p-b', visitor_ids: [] },
    ]);
    expect(await query("SELECT traits.plan AS plan FROM profiles WHERE site_id = 'un' AND profile_id = 'p-a'")).toEqual(
      [{ plan: 'pro' }],
    );
  });
});
