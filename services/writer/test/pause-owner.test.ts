import { randomBytes } from 'node:crypto';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { PauseOwner, Registry } from '@weir/ports/registry';
import { nextSwap, pauseWriters, resumeWriters } from '../src/pause/pause-writers.ts';
import { type Engine, type Harness, openEngine, openHarness } from './writer-harness.ts';

let engine: Engine;
let harness: Harness;
let registry: Registry;
beforeAll(async () => {
  engine = await openEngine();
}, 120_000);
afterAll(() => engine.close());
beforeEach(async () => {
  harness = await openHarness(engine, { unknownSettlesMs: 0, pausedAlarmMs: 50 });
  registry = await openRegistry();
});
afterEach(async () => {
  await registry.close();
  await harness.close();
});

const openRegistry = (): Promise<Registry> =>
  openLogRegistry({
    eventLog: harness.eventLog,
    clock: Date.now,
    randomSalt: () => randomBytes(32).toString('hex'),
  });

const deps = (owner: PauseOwner = 'swap') => ({ eventLog: harness.eventLog, registry, clock: Date.now, owner });
const start = (ports: Parameters<Harness['start']>[0] = {}) => harness.start({ pauses: registry, ...ports });

describe('an owner ends only its own pauses', () => {
  test('the end of an earlier pause, or of one that was never requested, leaves the present one', async () => {
    const writer = await start();
    const first = await nextSwap(deps());
    await pauseWriters(deps(), first);
    await resumeWriters(deps(), first);
    const second = await nextSwap(deps());
    await pauseWriters(deps(), second);
    await resumeWriters(deps(), first);
    await resumeWriters(deps('backup'), second + 1);
    expect(registry.writersPause()).toMatchObject({ swap: second, owner: 'swap', over: false });
    await resumeWriters(deps(), second);
    expect(registry.writersPause()).toMatchObject({ swap: second, over: true });
    await writer.close();
  });

  test('of a swap and a backup that take the same number, only the first gets the pause', async () => {
    const writer = await start();
    const swap = await nextSwap(deps());
    expect(await nextSwap(deps('backup'))).toBe(swap);
    expect(await pauseWriters(deps(), swap)).toMatchObject({ status: 'paused' });
    await expect(pauseWriters(deps('backup'), swap)).rejects.toThrow(RangeError);
    await expect(pauseWriters(deps('backup'), swap + 1)).rejects.toThrow(RangeError);
    await resumeWriters(deps('backup'), swap);
    expect(registry.writersPause()).toMatchObject({ swap, owner: 'swap', over: false });
    await resumeWriters(deps(), swap);
    await writer.close();
  });

  test('of a swap and a backup that request the same number at the same moment, one is refused', async () => {
    const writer = await start();
    const swap = await nextSwap(deps());
    const owners = ['swap', 'backup'] as const;
    const results = await Promise.allSettled(owners.map((owner) => pauseWriters(deps(owner), swap)));
    const winners = owners.filter((_, nth) => results[nth]?.status === 'fulfilled');
    expect(winners).toEqual([registry.writersPause()?.owner]);
    await resumeWriters(deps(winners[0]), swap);
    await writer.close();
  });
});
