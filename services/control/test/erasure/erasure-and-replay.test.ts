import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileId } from '@weir/domain/people/profile-id';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from '../replay-harness.ts';

jest.setTimeout(300_000);

const weir = useOpened(() => openReplayHarness(40));

const STORED: readonly { readonly name: string }[] = JSON.parse(
  readFileSync(join(__dirname, '../../../../schemas/clickhouse/stored-tables.json'), 'utf8'),
).tables;
/** The books (counts of records by outcome) without counts of 0: an erasure leaves such counts in the table, but a replay does not write them. */
const BOOKS = (database: string) =>
  `SELECT site_id, toString(minute) AS at, outcome, reason, sum(records) AS n FROM ${database}.books
   GROUP BY ALL HAVING n != 0 ORDER BY ALL`;

async function contents(database: string): Promise<object> {
  const { books: _, ...digests } = await weir.digests(database);
  return { ...digests, books: await weir.analytics.select(BOOKS(database)) };
}

async function forget(user: string): Promise<Readonly<Record<string, number>>> {
  const asked = await weir.call('POST', '/sites/shop/erasures', { users: [user] });
  expect(asked.status).toBe(202);
  return eventually('the erasure', async () => {
    const { data } = (await weir.call('GET', `/erasures/${asked.body.data.erasure_id}`)).body;
    if (data.problem !== null) throw new Error(data.problem);
    return data.phase === 'done' ? data.removed : undefined;
  });
}

/** Counts the rows of the site `shop` that contain the ID of the user or of its profile, for each stored table that has such rows. */
async function rowsThatName(user: string, database: string): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const { name } of STORED) {
    const text = "formatRow('JSONEachRow', *)";
    const rows = await weir.count(
      `SELECT count() AS n FROM ${database}.${name} WHERE site_id = 'shop'
       AND (position(${text}, '${user}') > 0 OR position(${text}, '${profileId('shop', user)}') > 0)`,
    );
    if (rows > 0) found[name] = rows;
  }
  return found;
}

test('forget, replay, swap, forget, undo: no table of either side has the persons, and others keep their rows', async () => {
  const rowsOfOthers = `SELECT count() AS n, sum(cityHash64(formatRow('JSONEachRow', *))) AS checksum FROM records
    WHERE site_id = 'blog' OR (site_id = 'shop' AND user_id IN ('user-0', 'user-3', 'user-4'))`;
  const [others] = await weir.analytics.select(rowsOfOthers);
  for (const user of ['user-1', 'user-2']) expect(await rowsThatName(user, 'weir')).not.toEqual({});

  await forget('user-1');
  expect(await rowsThatName('user-1', 'weir')).toEqual({});
  const forgotten = await contents('weir');

  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
  expect(await contents('weir_shadow')).toEqual(forgotten);
  expect((await weir.call('POST', '/replays/current/swap')).status).toBe(200);
  await weir.reaches('swapped');
  expect(await contents('weir')).toEqual(forgotten);
  expect(await rowsThatName('user-1', 'weir')).toEqual({});

  // The former tables still exist for an undo, so an erasure deletes their rows too.
  const removed = await forget('user-2');
  expect(removed.records).toBeGreaterThan(0);
  expect(removed['weir_shadow.records']).toBe(removed.records);
  for (const database of ['weir', 'weir_shadow']) expect(await rowsThatName('user-2', database)).toEqual({});
  const both = await contents('weir');
  expect(await contents('weir_shadow')).toEqual(both);
  expect(await weir.analytics.select(rowsOfOthers)).toEqual([others]);

  // The clock of the process that carried out the erasure can have been ahead.
  for (const erasure of weir.registry.erasures()) {
    await weir.registry.putErasure({ ...erasure, finishedAt: weir.clock() + 60_000 });
  }
  expect((await weir.call('POST', '/replays/current/undo')).status).toBe(200);
  await weir.reaches('undone');
  expect(await contents('weir')).toEqual(both);
  await weir.settled();
  await weir.drop();

  // Replays the whole log. Both persons must stay erased.
  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
  expect(await contents('weir_shadow')).toEqual(both);
  await weir.drop();
});
