import { randomBytes } from 'node:crypto';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { eventually } from '@weir/testkit/eventually';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from './replay-harness.ts';

// Dead letters are redriven (their records are appended again), and then the tables are replayed. A replay from raw also processes the raw records
// that became dead letters. It must give them their former outcome, although they no longer fail.

const weir = useOpened(() => openReplayHarness(5), { openMs: 120_000 });
beforeAll(async () => {
  await makeAndRedriveLetters();
}, 120_000);
afterEach(() => weir.drop());

const LETTERS =
  'SELECT raw_partition, raw_offset, failed_offset, attempts, redriven_at, reason FROM dead_letters ORDER BY ALL';
const STORED = "SELECT count() AS n FROM events WHERE pathname = '/letter' OR event_name = 'letter'";

const list = async () => (await weir.call('GET', '/dead-letters?reason=step_failed')).body.data;

/**
 * Makes two dead letters. A hit without a visitor ID fails again when it is redriven, and is stored at the second attempt. An event is stored at the
 * first attempt.
 */
async function makeAndRedriveLetters(): Promise<void> {
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const from = async (ip: string) => ({ sealedIp: await sealer.seal(ip, weir.clock()) });
  const hit = { site_id: 'shop', type: 'pageview', url: 'https://shop.example/letter', visitor_id: '', session_id: '' };
  const event = { event_name: 'letter', idempotency_key: 'letter', visitor_id: 'v', user_id: 'user-1' };
  weir.failPlaces(true);
  await weir.append('a', 'collect', 'shop', hit, await from('81.2.69.1'));
  await eventually('the first letter', async () => (await list()).total === 1);
  expect(await redriven()).toEqual(['dead']);
  await weir.append('user-1', 'event', 'shop', event, await from('81.2.69.2'));
  // A letter is listed when its row is stored, which is later than the append.
  await eventually('two letters', async () => (await list()).total === 2);
  weir.failPlaces(false);
  expect(await redriven()).toEqual(['stored', 'stored']);
  await weir.visits(3);
}

/** Redrives the letters that the failing lookup of the location has caused. Returns the results. */
async function redriven(): Promise<readonly string[]> {
  const { data } = (await weir.call('POST', '/dead-letters/redrive', { reason: 'step_failed' })).body;
  return data.results.map(({ result }: { result: string }) => result);
}

/**
 * Checks the state after the redrives, which no replay may change: no letter waits, the records of both letters are stored once, and the audit is
 * balanced.
 */
async function expectRedriven(): Promise<void> {
  expect(await list()).toMatchObject({ total: 0, letters: [] });
  expect(await weir.count(STORED)).toBe(2);
  expect(await weir.count('SELECT count() - uniqExact(raw_partition, raw_offset) AS n FROM records')).toBe(0);
  const { data } = (await weir.call('GET', '/audit')).body;
  expect(data).toMatchObject({ balanced: true, totals: { redriven: 3, redriven_twice: 0 } });
  expect(data.totals.dead.step_failed).toBeUndefined();
}

test('after the redrive, before any replay', expectRedriven);

test.each([{ from: 'raw' }, { from: 'raw', site_id: 'shop' }, { from: 'enriched' }])(
  'a replay %j makes the same rows, also after its swap',
  async (asked) => {
    const before = await weir.analytics.select(LETTERS);
    const { status, body } = await weir.call('POST', '/replays', asked);
    expect([status, body]).toEqual([201, expect.anything()]);
    await weir.follows();
    const differing = await weir.analytics.select(
      `SELECT raw_partition, raw_offset, outcome, source, reason, detail, count() AS n FROM (
       SELECT *, 0 AS side FROM weir.records UNION ALL SELECT *, 1 AS side FROM weir_shadow.records)
     GROUP BY raw_partition, raw_offset, outcome, source, reason, detail HAVING n != 2 ORDER BY ALL LIMIT 20`,
    );
    expect(differing).toEqual([]);
    expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
    const { changes, versions } = await weir.diff();
    expect([changes, versions]).toEqual([[], []]);
    // No letter is redriven while there is a replay.
    expect((await weir.call('POST', '/dead-letters/redrive', {})).status).toBe(409);

    expect((await weir.call('POST', '/replays/current/swap')).status).toBeLessThan(300);
    await eventually('the swap', async () => (await weir.current()).body.data.phase === 'swapped');
    await weir.settled();
    expect(await weir.analytics.select(LETTERS)).toEqual(before);
    await expectRedriven();
  },
);

test('after the replays, a letter that was redriven is not redriven again', async () => {
  const letters = await weir.analytics.select<{ id: string }>(
    "SELECT concat(log_id, '.', toString(raw_partition), '.', toString(raw_offset)) AS id FROM dead_letters WHERE redriven_at IS NOT NULL",
  );
  expect(letters).toHaveLength(2);
  const { data } = (await weir.call('POST', '/dead-letters/redrive', { letters: letters.map(({ id }) => id) })).body;
  expect(data.results.map(({ result }: { result: string }) => result)).toEqual(['redriven_before', 'redriven_before']);
  await expectRedriven();
});
