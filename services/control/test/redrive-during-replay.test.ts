import { randomBytes } from 'node:crypto';
import { encodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { KEEP_FOREVER } from '@weir/domain/registry/keep';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { eventually } from '@weir/testkit/eventually';
import { type ControlHarness, openControlHarness } from './control-harness.ts';

let weir: ControlHarness;
/** Called once, when a route of control next reads the positions of a topic. A redrive does this first, before it waits for the pipeline. */
let onWait: (() => Promise<void>) | undefined;
beforeAll(async () => {
  weir = await openControlHarness((log) => ({
    ...log,
    async positions(topic, group) {
      const called = onWait;
      onWait = undefined;
      await called?.();
      return log.positions(topic, group);
    },
  }));
  await weir.call('POST', '/sites', { name: 'shop', domain: 'example.com', site_id: 'shop' });
});
afterAll(() => weir.close());

const ends = async () => (await weir.eventLog.positions(TOPIC_RAW, 'test')).map(({ end }) => end);

/** Makes a dead letter. `n`: a digit that differs at each call, because the enricher caches the place of each address. */
async function makeLetter(n: number): Promise<void> {
  const receivedAt = weir.clock();
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const sealedIp = await sealer.seal(`81.2.69.${n}`, receivedAt);
  const head = { eventId: `00000000-0000-7000-8000-00000000000${n}`, kind: 'collect', siteId: 'shop' } as const;
  const body = { site_id: 'shop', type: 'pageview', url: 'https://shop.example/', visitor_id: '', session_id: '' };
  const from = { receivedAt, sealedIp: sealedIp ?? '', userAgent: 'Firefox', acceptLanguage: '' };
  weir.failPlaces(true);
  await weir.eventLog.append(TOPIC_RAW, [
    { partition: 0, value: encodeRawRecord({ ...head, ...from }, JSON.stringify(body)) },
  ]);
  await eventually('the letter', async () => (await weir.call('GET', '/dead-letters')).body.data.total === 1);
  weir.failPlaces(false);
}

const beginReplay = () =>
  weir.registry.putReplayRequest({
    replayId: 'replay_x',
    from: 'tables',
    startedAt: weir.clock(),
    keep: KEEP_FOREVER,
  });

/** Redrives the letter twice: while there is a replay, when the redrive must be refused, and after the replay was dropped. */
async function redriveTwice(): Promise<void> {
  const before = await ends();
  const { status, body: answer } = await weir.call('POST', '/dead-letters/redrive', {});
  expect([status, answer.error?.message]).toEqual([409, expect.stringContaining('there is a replay')]);
  expect(await ends()).toEqual(before);
  await weir.call('DELETE', '/replays/current');
  await eventually('no replay', async () => (await weir.call('GET', '/replays/current')).status === 404);
  const { data } = (await weir.call('POST', '/dead-letters/redrive', {})).body;
  expect(data.results).toMatchObject([{ result: 'stored' }]);
}

test('a redrive appends nothing if a replay begins while the redrive waits for the pipeline', async () => {
  await makeLetter(1);
  onWait = beginReplay;
  await redriveTwice();
});

test('a redrive reads the registry to its end, so it finds a replay that another process has begun', async () => {
  await makeLetter(2);
  const registry = weir.registry as { catchUp(): Promise<void> };
  const { catchUp } = registry;
  registry.catchUp = () => {
    registry.catchUp = catchUp;
    return beginReplay();
  };
  await redriveTwice();
});
