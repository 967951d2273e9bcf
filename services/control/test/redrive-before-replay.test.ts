import { randomBytes } from 'node:crypto';
import type { AdminDeps } from '@weir/control/control-deps';
import { letterRecord } from '@weir/control/dead-letters/letter-record';
import { startReplay } from '@weir/control/replay/replays-route';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { eventually } from '@weir/testkit/eventually';
import { nextSwap, pauseWriters, resumeWriters } from '@weir/writer/pause/pause-writers';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

// A dead letter is redriven (its record is appended again), and a replay from raw begins before the tables have the redriven record. The replay must
// not store the content twice: with the first record, which no longer fails, and with the redriven one.

let weir: ReplayHarness;
const BEHIND = 'the tables do not have all records of events.raw yet';
let letters = 0;
let fills = false;
beforeAll(async () => {
  weir = await openReplayHarness(3, {
    leading: ({ raw, ...deps }) => ({
      ...deps,
      raw: {
        ...raw,
        async startEnricher(enricher) {
          fills = true;
          return raw.startEnricher(enricher);
        },
      },
    }),
  });
}, 120_000);
afterAll(() => weir.close());
afterEach(() => weir.drop());

const open = async () => (await weir.call('GET', '/dead-letters?reason=step_failed')).body.data;
const stored = (name: string) => weir.count(`SELECT count() AS n FROM events WHERE event_name = '${name}'`);

async function rawRecords(): Promise<number> {
  const positions = await weir.eventLog.positions(TOPIC_RAW, 'test');
  return positions.reduce((sum, { end }) => sum + end, 0);
}

/** Makes a dead letter of an event. */
async function makeLetter(name: string): Promise<void> {
  const sealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const sealedIp = await sealer.seal(`81.2.69.${++letters}`, weir.clock());
  weir.failPlaces(true);
  await weir.append(name, 'event', 'shop', { event_name: name, visitor_id: 'v' }, { sealedIp });
  await eventually('the letter', async () => (await open()).total === 1);
  weir.failPlaces(false);
}

async function swap(): Promise<void> {
  expect((await weir.call('POST', '/replays/current/swap')).status).toBeLessThan(300);
}

test('a replay begins when the tables have the records that were redriven before it', async () => {
  await makeLetter('early');
  const pausing = { eventLog: weir.eventLog, registry: weir.registry, clock: weir.clock, owner: 'swap' } as const;
  const number = await nextSwap(pausing);
  await pauseWriters(pausing, number);
  const before = await rawRecords();
  const redriving = weir.call('POST', '/dead-letters/redrive', { reason: 'step_failed' });
  await eventually('the redriven record', async () => (await rawRecords()) === before + 1);

  expect((await weir.call('POST', '/replays', { from: 'raw' })).status).toBe(201);
  await eventually('the replay to wait or to fill', async () => {
    const { phase, problem } = (await weir.current()).body.data;
    return fills || (phase === 'create' && problem?.includes(BEHIND) === true);
  });
  await resumeWriters(pausing, number);
  await redriving;
  await weir.follows();
  await swap();
  await eventually('the swap', async () => (await weir.current()).body.data.phase === 'swapped');
  await weir.settled();
  expect(await stored('early')).toBe(1);
});

test('a swap is refused if a letter was redriven after its replay had begun', async () => {
  await makeLetter('late');
  expect((await weir.call('POST', '/replays', { from: 'raw' })).status).toBe(201);
  await weir.follows();
  // Simulates the append of another control process that has not read the start of the replay yet.
  const [letter] = (await open()).letters;
  const { log_id: log, partition, offset } = letter;
  const addressSealer = createAddressSealer({ registry: weir.registry, randomBytes });
  const retention = { rawRetentionMs: 72 * 3_600_000, enrichedRetentionMs: 30 * 24 * 3_600_000 };
  const deps = { ...weir, addressSealer, retention } as unknown as AdminDeps;
  const record = await letterRecord(deps, { log, partition, offset, attempts: 0 } as never);
  if (typeof record === 'string') throw new Error(record);
  await weir.eventLog.append(TOPIC_RAW, [record]);
  await eventually('the redriven record', async () => (await stored('late')) === 1);

  await swap();
  await eventually('the end of the swap', async () => {
    const { phase, refusal } = (await weir.current()).body.data;
    return phase === 'swapped' || refusal !== null;
  });
  const { phase, refusal } = (await weir.current()).body.data;
  expect([phase, refusal]).toEqual(['follow', expect.stringContaining('redriven')]);
  expect(await stored('late')).toBe(1);
});

test('no replay begins if an expiry has begun while the start waited for a redrive', async () => {
  const deps = {
    ...weir,
    randomBytes,
    async runRedrive<T>(task: () => Promise<T>): Promise<T> {
      const { registry, clock } = weir;
      const expiry = {
        siteIds: ['nowhere'],
        before: {},
        startedAt: clock(),
        phase: 'deleting',
        ends: [0, 0, 0, 0],
      } as const;
      await registry.putExpiry({ expiryId: 'meanwhile', ...expiry });
      return task();
    },
  } as unknown as AdminDeps;
  const reply = await startReplay(deps, { body: { value: { from: 'raw' } } } as never);
  expect([reply.status, weir.registry.replay()]).toEqual([409, undefined]);
  await eventually('the end of the expiry', () => weir.registry.expiry() === undefined);
});
