import { randomBytes } from 'node:crypto';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { eventually } from '@weir/testkit/eventually';
import { createCrashPoints } from '@weir/testkit/fault-points';
import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { nextSwap, pauseWriters, resumeWriters } from '../src/pause/pause-writers.ts';
import { openHarness, range, rows, useEngine } from './writer-harness.ts';

const engine = useEngine();

test.each([0, 2, 4, 6, 9, 13])(
  'after a crash at point %i during a pause, each row is stored once, before and after the swap',
  async (crashAt) => {
    const harness = await openHarness(engine, { unknownSettlesMs: 0 });
    const { eventLog } = harness;
    const randomSalt = () => randomBytes(32).toString('hex');
    const registry = await openLogRegistry({ eventLog, clock: Date.now, randomSalt });
    const deps = { eventLog, registry, clock: Date.now, owner: 'swap' } as const;
    const points = createCrashPoints(crashAt);
    await harness.put(range(0, 30));
    const first = await harness.start(
      {
        pauses: registry,
        eventLog: createFaultyEventLog(eventLog, points.point),
        analytics: createFaultyAnalytics(engine.analytics, points.point),
      },
      4,
    );
    let settled = false;
    const swap = await nextSwap(deps);
    const pausing = pauseWriters(deps, swap).finally(() => {
      settled = true;
    });
    await eventually('it crashed or paused', () => points.crashed || settled);
    await first.close();
    const second = await harness.start({ pauses: registry });
    const paused = await pausing;
    if (paused.status !== 'paused') throw new Error('the writer did not pause');
    expect(await harness.stored()).toEqual(rows(paused.positions[0]?.nextRawOffset as number));
    await engine.swap(eventLog.logId);
    await resumeWriters(deps, swap);
    await harness.caughtUp();
    expect(await harness.stored()).toEqual(rows(30));
    await second.close();
    await registry.close();
    await harness.close();
  },
);
