import { erasureSince } from '@weir/control/replay/erased-rows-of-log';
import type { Registry } from '@weir/ports/registry';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from './replay-harness.ts';

const LEADERS_ENDED_MAX = 30;

const weir = useOpened(() => openReplayHarness(40));
afterEach(() => weir.drop());

const phase = async () => (await weir.current()).body.data.phase;
const ask = async (what: 'swap' | 'undo') => (await weir.call('POST', `/replays/current/${what}`)).status;

async function startAndFollow(): Promise<void> {
  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
}

/** Sets the city of all rows of one database, so that the rows show from which set of tables they come. */
const mark = (database: string, city: string) =>
  weir.command(`ALTER TABLE ${database}.records UPDATE city = '${city}' WHERE 1 SETTINGS mutations_sync = 1`);
const cities = async () =>
  (await weir.analytics.select<{ city: string }>('SELECT DISTINCT city FROM records ORDER BY city')).map(
    ({ city }) => city,
  );

test('swap, more traffic, undo: the tables have every record once, and the former rows come back', async () => {
  expect(await ask('swap')).toBe(404);
  await startAndFollow();
  expect(await ask('undo')).toBe(409);
  await mark('weir_shadow', 'new');
  await mark('weir', 'old');
  const generation = await weir.analytics.generation();
  expect(await ask('swap')).toBe(200);
  await weir.reaches('swapped');
  expect([await weir.analytics.generation(), await cities()]).toEqual([generation + 1, ['new']]);
  expect([await ask('swap'), (await weir.call('GET', '/replays/current/diff')).status]).toEqual([409, 409]);

  await weir.visits(10);
  expect(await weir.count('SELECT count() AS n FROM records')).toBe(250);
  expect(await weir.count("SELECT count() AS n FROM records WHERE city = 'new'")).toBe(200);
  expect(await weir.count('SELECT sum(records) AS n FROM books')).toBe(250);

  expect(await ask('undo')).toBe(200);
  await weir.reaches('undone');
  await weir.visits(10);
  expect(await weir.count("SELECT count() AS n FROM records WHERE city = 'old'")).toBe(200);
  expect(await weir.count('SELECT count() AS n FROM records')).toBe(300);
  expect(await weir.count("SELECT count() AS n FROM weir_shadow.records WHERE city = 'new'")).toBe(200);
  expect([await ask('undo'), await ask('swap')]).toEqual([409, 409]);
  await weir.command("ALTER TABLE weir.records UPDATE city = '' WHERE 1 SETTINGS mutations_sync = 1");
});

test('a swap under traffic stores every record once, in every table', async () => {
  await startAndFollow();
  const before = await weir.count('SELECT count() AS n FROM records');
  let sent = 0;
  let stop = false;
  const traffic = (async () => {
    while (!stop) {
      await weir.visit('shop');
      sent += 5;
    }
  })();
  await ask('swap');
  await weir.reaches('swapped');
  stop = true;
  await traffic;
  await weir.settled();
  expect(await weir.count('SELECT count() AS n FROM records')).toBe(before + sent);
  expect(await weir.count('SELECT sum(records) AS n FROM books')).toBe(before + sent);
  const swapped = await weir.digests('weir');
  await weir.drop();

  // A new replay of the whole log gives the expected content of the tables.
  await startAndFollow();
  expect(await weir.digests('weir_shadow')).toEqual(swapped);
});

test('a swap is refused when the books of the shadow tables do not balance, and writing goes on', async () => {
  await startAndFollow();
  const generation = await weir.analytics.generation();
  await weir.command('ALTER TABLE weir_shadow.records DELETE WHERE raw_offset = 3 SETTINGS mutations_sync = 1');
  expect(await ask('swap')).toBe(200);
  const refusal = await eventually('a refusal', async () => {
    return (await weir.current()).body.data.refusal ?? undefined;
  });
  expect(refusal).toMatch(/the books of the shadow tables do not balance/);
  expect([await phase(), await weir.analytics.generation()]).toEqual(['follow', generation]);
  await weir.visits(5);
});

test('persons that were erased before a replay stay erased; after an erasure meanwhile the swap is refused', async () => {
  await startAndFollow();
  const asked = await weir.call('POST', '/sites/shop/erasures', { users: ['user-1'] });
  expect(asked.status).toBe(202);
  const { erasure_id: id } = asked.body.data;
  await eventually('the erasure', async () => (await weir.call('GET', `/erasures/${id}`)).body.data.phase === 'done');
  expect(await ask('swap')).toBe(200);
  const refusal = await eventually('a refusal', async () => (await weir.current()).body.data.refusal ?? undefined);
  expect(refusal).toContain(`the erasure ${id} ended after this replay began`);
  await weir.drop();

  await startAndFollow();
  const erased = "SELECT count() AS n FROM records WHERE outcome = 'erased'";
  expect(await weir.count(erased)).toBeGreaterThan(0);
  expect(await weir.count(erased.replace('records', 'weir_shadow.records'))).toBe(await weir.count(erased));
  const user = "SELECT count() AS n FROM weir_shadow.records WHERE site_id = 'shop' AND user_id = 'user-1'";
  expect(await weir.count(user)).toBe(0);
  await ask('swap');
  await weir.reaches('swapped');
});

test('an undo does not begin while an erasure runs, and is possible after it', async () => {
  await startAndFollow();
  await ask('swap');
  await weir.reaches('swapped');
  let id = '';
  await weir.restartErasures(undefined, async () => {
    id = (await weir.call('POST', '/sites/shop/erasures', { users: ['user-2'] })).body.data.erasure_id;
    const { status, body } = await weir.call('POST', '/replays/current/undo');
    expect([status, body.error.message]).toEqual([409, expect.stringContaining(`the erasure ${id} is running`)]);
  });
  await eventually('the erasure', async () => (await weir.call('GET', `/erasures/${id}`)).body.data.phase === 'done');
  expect(await ask('undo')).toBe(200);
  await weir.reaches('undone');
  const user = "SELECT count() AS n FROM records WHERE site_id = 'shop' AND user_id = 'user-2'";
  expect(await weir.count(user)).toBe(0);
});

test('after an erasure, a swap whose undo was begun before cannot be undone, and the reason says so', async () => {
  const erasure = { erasureId: 'e', finishedAt: 20 } as const;
  const registry = { erasures: () => [erasure] } as unknown as Pick<Registry, 'erasures'>;
  const request = { replayId: 'r', from: 'enriched', startedAt: 5 } as const;
  const state = { replayId: 'r', phase: 'swap', starts: [], recordsCopied: 0, recordsToCopy: 0 } as const;
  expect(erasureSince(registry, { request, state })).toContain('drop the replay and start it again');
  const undo = { request, state: { ...state, undoing: true, undoFrom: 10 } };
  expect(erasureSince(registry, undo)).toContain('the swap cannot be undone any more');
  expect(erasureSince(registry, { request, state: { ...undo.state, undoFrom: 21 } })).toBe(undefined);
});

test.each(['swap', 'undo'] as const)(
  'a leader that ends at any moment of a %s is continued by the next',
  async (what) => {
    await startAndFollow();
    if (what === 'undo') {
      await ask('swap');
      await weir.reaches('swapped');
    }
    const records = await weir.count('SELECT count() AS n FROM records');
    await ask(what);
    const done = what === 'swap' ? 'swapped' : 'undone';
    // On a busy machine, a leader (a process that carries out the replay) can need longer than the time between two probes. If each one was ended,
    // none could complete the command. So at most LEADERS_ENDED_MAX leaders are ended.
    let ended = 0;
    await eventually(done, async () => {
      if (ended++ < LEADERS_ENDED_MAX) await weir.restartReplayer();
      return (await phase()) === done;
    });
    await weir.visits(5);
    expect(await weir.count('SELECT count() AS n FROM records')).toBe(records + 25);
    expect(await weir.count('SELECT sum(records) AS n FROM books')).toBe(records + 25);
  },
);
