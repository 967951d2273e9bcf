import { randomBytes } from 'node:crypto';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { eventually } from '@weir/testkit/eventually';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

let weir: ReplayHarness;
beforeAll(async () => {
  weir = await openReplayHarness(1);
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const sealed = async (nth: number) => ({ sealedIp: await sealer.seal(`81.2.69.${nth}`, weir.clock()) });
  const page = { site_id: 'shop', type: 'pageview', url: 'https://shop.example/letter' };
  await weir.command("ALTER TABLE weir.records ADD CONSTRAINT no_bad CHECK NOT startsWith(event_name, 'bad')");
  weir.failPlaces(true);
  // Of each pair, the first letter is redriven, and the second one stays.
  await weir.append('a', 'collect', 'shop', { ...page, visitor_id: '' }, await sealed(1));
  await weir.append('a', 'collect', 'shop', { ...page, visitor_id: 'v-a' }, await sealed(2));
  await weir.append('b', 'event', 'shop', { event_name: 'bad-1', user_id: 'user-1', idempotency_key: 'bad-1' });
  await weir.append('b', 'event', 'shop', { event_name: 'bad-2', user_id: 'user-1' });
  await weir.settled();
  weir.failPlaces(false);
  await weir.command('ALTER TABLE weir.records DROP CONSTRAINT no_bad');
}, 300_000);
afterAll(() => weir.close());

const redriven = (body: object) => weir.call('POST', '/dead-letters/redrive', body);
const lettersOf = async (query: string) =>
  (await weir.call('GET', `/dead-letters${query}`)).body.data.letters as { letter_id: string; reason: string }[];

test('a replay from raw or enriched stores redriven records once, and processes the other dead letters again', async () => {
  const chosen = [(await lettersOf('?reason=step_failed'))[0], (await lettersOf('?stage=writer'))[0]];
  const letters = chosen.map((one) => one?.letter_id);
  // While records are not stored yet, the answer is 503.
  const answer = await eventually('an answer', async () => {
    const reply = await redriven({ letters });
    return reply.status === 503 ? undefined : reply;
  });
  const { results } = answer.body.data;
  expect(results).toMatchObject([{ result: 'stored' }, { result: 'stored' }]);
  await weir.settled();
  for (const from of ['raw', 'enriched']) {
    const { status } = await weir.call('POST', '/replays', { from });
    expect(status).toBe(201);
    expect(await redriven({})).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('replay') } },
    });
    await weir.follows();
    const places =
      "outcome, reason, raw_partition, raw_offset, event_name, visitor_id, if(outcome = 'dead', detail, '')";
    const rows = (database: string) =>
      weir.analytics.select(
        `SELECT ${places} FROM ${database}.records WHERE (raw_partition, raw_offset) NOT IN (
           SELECT raw_partition, failed_offset FROM weir.dead_letters WHERE redriven_at IS NULL) ORDER BY raw_partition, raw_offset`,
      );
    expect(await rows('weir_shadow')).toEqual(await rows('weir'));
    const count = (where: string) =>
      weir.count(`SELECT count() AS n FROM weir_shadow.records WHERE outcome = 'row' AND ${where}`);
    // The letters that were not redriven: ClickHouse accepts the row in both replays. The enricher runs again only in a replay from raw.
    expect([await count("event_name = 'bad-1'"), await count("event_name = 'bad-2'")]).toEqual([1, 1]);
    expect(await count("pathname = '/letter'")).toBe(from === 'raw' ? 2 : 1);
    await weir.drop();
  }
}, 600_000);
